import { type IncomingMessage, type OutgoingHttpHeaders, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../kernel/clock.ts'
import { answerHeaders } from './answer-headers.ts'
import { askApp, type Exchange, hidesOfferedToken, notAnswering, overBeforeItBegan } from './exchange.ts'
import { AGREED } from './offered-protocols.ts'

/** A line that broke without a word is noticed by this, and not by silence: a socket may have nothing to say. */
const KEEP_ALIVE_MS = 60_000
/** When one side has said its last word, the other has so long for its own. */
const LAST_WORD_MS = 30_000
/** What a client may say before it is answered: none has a reason to, before it knows in which protocol. */
const MAX_EARLY_BYTES = 64 * 1024

interface Tunnel {
  readonly client: Duplex
  /** What the client sent behind its request. */
  readonly head: Buffer
  readonly clock: Clock
  readonly refuse: (error: unknown) => void
  readonly answered: (status: number | undefined) => void
}

/** Lets a client and an application talk past HTTP, bytes as they come, until either is gone. */
export function openTunnel(exchange: Exchange, { client, head, clock, refuse, answered }: Tunnel): void {
  const { app, place } = exchange
  if (client.destroyed || app.revoked.aborted) throw overBeforeItBegan()
  const upstream = askApp(exchange, { connection: 'Upgrade', upgrade: 'websocket' })
  const breakOff = () => client.destroy()
  const stopListening = listenEarly(client, head, breakOff)
  let hasAnswered = false
  let cancelEnd: (() => void) | undefined
  const endSoon = () => {
    cancelEnd ??= clock.after(LAST_WORD_MS, breakOff)
  }

  const answerWith = (answer: IncomingMessage, more: OutgoingHttpHeaders) => {
    hasAnswered = true
    answered(answer.statusCode)
    app.touch()
    client.write(headText(answer, { ...answerHeaders(answer, place), ...more }), 'latin1')
  }
  upstream.on('upgrade', (answer, server, serverHead) => {
    answerWith(answer, { connection: 'Upgrade', upgrade: 'websocket', ...protocolBack(exchange, answer) })
    client.write(serverHead)
    for (const bytes of stopListening()) server.write(bytes)
    for (const socket of [client, server]) {
      keepAlive(socket)
      socket.on('data', () => app.touch()).once('end', endSoon)
    }
    client.pipe(server).on('error', breakOff)
    server.pipe(client)
    server.on('close', () => {
      // What it said to its end is still on the way to the client.
      if (server.readableEnded) client.resume()
      else breakOff()
    })
    client.on('close', () => server.destroy())
  })
  upstream.on('response', (answer) => {
    stopListening()
    answerWith(answer, { connection: 'close' })
    client.resume()
    answer.on('error', breakOff).once('end', endSoon)
    answer.pipe(client)
  })
  upstream.on('error', (error) => {
    if (hasAnswered) client.destroy()
    else refuse(notAnswering(exchange, error))
  })
  upstream.end()

  client.once('close', () => {
    upstream.destroy()
    cancelEnd?.()
    app.revoked.removeEventListener('abort', breakOff)
    app.end()
  })
  client.on('error', breakOff)
  keepAlive(client)
  app.revoked.addEventListener('abort', breakOff)
  app.touch()
}

/**
 * Listens to a client that waits for its answer: only who is listened to is heard going away. Gives back a function that
 * ends this, and answers what the client has said.
 */
function listenEarly(client: Duplex, head: Buffer, breakOff: () => void): () => Buffer[] {
  const said = [head]
  let length = head.length
  const hear = (bytes: Buffer) => {
    said.push(bytes)
    length += bytes.length
    if (length > MAX_EARLY_BYTES) breakOff()
  }
  client.on('data', hear).on('end', breakOff)
  return () => {
    client.off('data', hear).off('end', breakOff)
    return said
  }
}

function keepAlive(socket: Duplex): void {
  if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true).setTimeout(0)
}

/** A browser that offered protocols and is answered none of them hangs up. */
function protocolBack(exchange: Exchange, answer: IncomingMessage): OutgoingHttpHeaders {
  const isSilent = answer.headers['sec-websocket-protocol'] === undefined
  return isSilent && hidesOfferedToken(exchange) ? { 'sec-websocket-protocol': AGREED } : {}
}

/** The values come out of Node's parser, which lets no line break through. */
function headText(answer: IncomingMessage, headers: OutgoingHttpHeaders): string {
  const status = answer.statusCode ?? 0
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`),
  )
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', ''].join('\r\n')
}
