import type { IncomingMessage } from 'node:http'
import { type ErrorReply, errorReply } from '../error-reply.ts'
import { COMMON_HEADERS } from '../security-headers.ts'

/** An answer of ours in the place of an application's. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Set when the failure is ours and belongs in the log. */
  readonly fault: unknown
}

/** For a person a page, for a program JSON. */
export function refusal(error: unknown, message: Pick<IncomingMessage, 'headers'>, requestId: string): Refusal {
  const reply = errorReply(error, requestId)
  const isForPerson = message.headers.accept?.includes('text/html') === true
  return {
    status: reply.status,
    headers: {
      ...COMMON_HEADERS,
      ...reply.headers,
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'",
      'content-type': `${isForPerson ? 'text/html' : 'application/json'}; charset=utf-8`,
    },
    body: isForPerson ? page(reply) : JSON.stringify(reply.body),
    fault: reply.fault,
  }
}

const FROM_WORKSPACE = 'Sign in, and open the application from the page of its workspace.'

const TITLES: Readonly<Record<number, string>> = {
  401: 'Not signed in',
  403: 'Not for you',
  404: 'Nothing is here',
  409: 'The workspace is stopped',
  502: 'The application does not answer',
  503: 'Not now',
}

function page({ status, body }: ErrorReply): string {
  const title = TITLES[status] ?? 'That did not work'
  const detail = typeof body.detail === 'string' ? body.detail : ''
  const sentence = status === 401 || status === 403 ? `${detail}. ${FROM_WORKSPACE}` : detail
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${asText(title)}</title>`,
    `<h1>${asText(title)}</h1>`,
    `<p>${asText(sentence)}</p>`,
    '</html>',
    '',
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const asText = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
