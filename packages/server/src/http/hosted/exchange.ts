import { type ClientRequest, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import type { HttpRequestFacts } from '../request-facts.ts'
import type { AnswerPlace } from './answer-headers.ts'
import type { HostedApp } from './hosted-apps.ts'
import { requestHeaders } from './request-headers.ts'

/** Where ports of workspaces are published. */
const LOOPBACK = '127.0.0.1'

/** Somebody who may talk to an application, and what they said first. */
export interface Exchange {
  readonly message: IncomingMessage
  readonly facts: HttpRequestFacts
  readonly app: HostedApp
  /** As the application gets it. */
  readonly path: string
  readonly place: AnswerPlace
}

/**
 * Begins the request to the application. Each has a connection of its own: one that was kept could be broken, or lead
 * to a container that is no longer there.
 */
export function askApp({ message, facts, app, path, place }: Exchange, more: OutgoingHttpHeaders): ClientRequest {
  const { bearerToken } = facts
  const headers = requestHeaders(message, {
    clientAddress: facts.clientAddress,
    host: place.host,
    proto: new URL(facts.externalUrl).protocol.replace(':', ''),
    prefix: place.prefix.replace(/\/$/, ''),
    hidesAuthorization: bearerToken !== undefined && app.ownTokens.has(bearerToken),
  })
  return httpRequest({
    host: LOOPBACK,
    port: place.hostPort,
    method: message.method,
    path,
    headers: Object.fromEntries(Object.entries({ ...headers, ...more }).filter(([, value]) => value !== undefined)),
    agent: false,
    setHost: false,
  })
}

/** Somebody went away, or lost their right, while it was found out who they are. */
export const overBeforeItBegan = (): AppError => new AppError('permission_denied', 'Permission denied')

export const notAnswering = ({ app }: Exchange, cause: unknown): AppError =>
  new AppError(
    'app_not_answering',
    `Nothing answers on port ${app.containerPort} of the workspace. Start the application there, and let it listen on ` +
      'all addresses (0.0.0.0)',
    { cause },
  )
