import { type ClientRequest, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import type { HttpRequestFacts } from '../request-facts.ts'
import type { AnswerPlace } from './answer-headers.ts'
import type { HostedApp } from './hosted-apps.ts'
import { offeredToken, withoutOfferedToken } from './offered-protocols.ts'
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
export function askApp(exchange: Exchange, more: OutgoingHttpHeaders): ClientRequest {
  const { message, facts, app, path, place } = exchange
  const { bearerToken } = facts
  const headers = requestHeaders(message, {
    clientAddress: facts.clientAddress,
    host: place.host,
    proto: new URL(facts.externalUrl).protocol.replace(':', ''),
    prefix: place.prefix.replace(/\/$/, ''),
    hidesAuthorization: bearerToken !== undefined && app.ownTokens.has(bearerToken),
  })
  const all = { ...headers, ...protocolsFor(exchange), ...more }
  return httpRequest({
    host: LOOPBACK,
    port: place.hostPort,
    method: message.method,
    path,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    agent: false,
    setHost: false,
  })
}

/** Whether the application must not see the token among the offered protocols. */
export const hidesOfferedToken = ({ message, app }: Exchange): boolean => {
  const token = offeredToken(message.headers['sec-websocket-protocol'])
  return token !== undefined && app.ownTokens.has(token)
}

/** Also where no socket is asked for: a proxy on the way may have dropped the rest of the handshake. */
function protocolsFor(exchange: Exchange): OutgoingHttpHeaders {
  const offered = exchange.message.headers['sec-websocket-protocol']
  return hidesOfferedToken(exchange) ? { 'sec-websocket-protocol': withoutOfferedToken(offered) } : {}
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
