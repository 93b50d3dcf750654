import { type IncomingMessage, type OutgoingHttpHeaders, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerHeaders } from './answer-headers.ts'
import { askApp, type Exchange, notAnswering, overBeforeItBegan } from './exchange.ts'
import { AGREED, offeredToken, withoutOfferedToken } from './offered-protocols.ts'

/** A line that broke without a word is noticed by this, and not by silence: a socket may have nothing to say. */
const KEEP_ALIVE_MS = 60_000

interface Tunnel {
  readonly client: Duplex
  /** What the client sent behind its request. */
  readonly head: Buffer
  readonly refuse: (error: unknown) => void
  readonly answered: (status: number | undefined) => void
}

/** Lets a client and an application talk past HTTP, bytes as they come, until either is gone. */
export function openTunnel(exchange: Exchange, { client, head, refuse, answered }: Tunnel): void {
  const { app, place } = exchange
  if (client.destroyed || app.revoked.aborted) throw overBeforeItBegan()
  const upstream = askApp(exchange, { connection: 'Upgrade', upgrade: 'websocket', ...protocolsFor(exchange) })
  const breakOff = () => client.destroy()
  let hasAnswered = false

  const answerWith = (answer: IncomingMessage, more: OutgoingHttpHeaders) => {
    hasAnswered = true
    answered(answer.statusCode)
    app.touch()
    client.write(headText(answer, { ...answerHeaders(answer, place), ...more }))
  }
  upstream.on('upgrade', (answer, server, serverHead) => {
    answerWith(answer, { connection: 'Upgrade', upgrade: 'websocket', ...protocolBack(exchange, answer) })
    for (const socket of [client, server]) {
      if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true).setTimeout(0)
      socket.on('data', () => app.touch())
    }
    client.write(serverHead)
    server.write(head)
    client.pipe(server).on('error', breakOff).on('close', breakOff)
    server.pipe(client)
    client.on('close', () => server.destroy())
  })
  upstream.on('response', (answer) => {
    answerWith(answer, { connection: 'close' })
    client.resume()
    answer.on('error', breakOff)
    answer.pipe(client)
  })
  upstream.on('error', (error) => {
    if (hasAnswered) client.destroy()
    else refuse(notAnswering(exchange, error))
  })
  upstream.end()

  client.once('close', () => {
    upstream.destroy()
    app.revoked.removeEventListener('abort', breakOff)
    app.end()
  })
  client.on('error', breakOff)
  app.revoked.addEventListener('abort', breakOff)
  app.touch()
}

const hidesToken = ({ message, app }: Exchange): boolean => {
  const token = offeredToken(message.headers['sec-websocket-protocol'])
  return token !== undefined && app.ownTokens.has(token)
}

function protocolsFor(exchange: Exchange): OutgoingHttpHeaders {
  const offered = exchange.message.headers['sec-websocket-protocol']
  return hidesToken(exchange) ? { 'sec-websocket-protocol': withoutOfferedToken(offered) } : {}
}

/** A browser that offered protocols and is answered none of them hangs up. */
function protocolBack(exchange: Exchange, answer: IncomingMessage): OutgoingHttpHeaders {
  const isSilent = answer.headers['sec-websocket-protocol'] === undefined
  return isSilent && hidesToken(exchange) ? { 'sec-websocket-protocol': AGREED } : {}
}

/** The values come out of Node's parser, which lets no line break through. */
function headText(answer: IncomingMessage, headers: OutgoingHttpHeaders): string {
  const status = answer.statusCode ?? 0
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`),
  )
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', ''].join('\r\n')
}
