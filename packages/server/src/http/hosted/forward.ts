import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import type { Clock } from '../../kernel/clock.ts'
import { answerHeaders } from './answer-headers.ts'
import { askApp, type Exchange, notAnswering, overBeforeItBegan } from './exchange.ts'
import { IdleLimit } from './idle-limit.ts'
import { bodyHeaders } from './request-headers.ts'

/** Longer than a poll waits. Event streams may be silent for as long as they like. */
const IDLE_MS = 10 * 60_000

/**
 * Passes a request to the application and its answer back, both as they come. Whoever breaks off is told to the other
 * side as that: an answer that was cut never looks like a whole one.
 */
export function forward(
  exchange: Exchange,
  response: ServerResponse,
  { clock, refuse }: { clock: Clock; refuse: (error: unknown) => void },
): void {
  const { message, app, place } = exchange
  if (response.closed || app.revoked.aborted) throw overBeforeItBegan()
  // `keep-alive`: an application that is to close at once may do so before its answer has arrived.
  const upstream = askApp(exchange, { ...bodyHeaders(message), connection: 'keep-alive' })
  const idle = new IdleLimit({ clock, limitMs: IDLE_MS, onIdle: () => response.destroy() })
  const moved = () => {
    idle.moved()
    app.touch()
  }
  const breakOff = () => response.destroy()

  upstream.on('response', (answer) => {
    moved()
    try {
      response.writeHead(answer.statusCode ?? 0, answerHeaders(answer, place))
    } catch (error) {
      upstream.destroy()
      refuse(notAnswering(exchange, error))
      return
    }
    // A stream of events may have none for a while. `flushHeaders` would send them as another text than they came.
    response.write('', 'latin1')
    if (answer.headers['content-type']?.startsWith('text/event-stream')) idle.end()
    answer.on('data', moved)
    pipeline(answer, response, () => undefined) // whichever end breaks takes the other with it
  })
  upstream.on('upgrade', (_answer, socket) => {
    // Nobody asked for that, and Node would leave everybody waiting.
    socket.destroy()
    refuse(notAnswering(exchange, new Error('the application changed the protocol')))
  })
  upstream.on('error', (error) => {
    if (response.headersSent) response.destroy()
    else refuse(notAnswering(exchange, error))
  })
  upstream.on('close', () => {
    // It may have answered without hearing everything; the rest is for nobody.
    message.unpipe(upstream)
    message.resume()
  })
  message.on('data', moved)
  message.pipe(upstream)
  response.once('close', () => {
    upstream.destroy()
    idle.end()
    app.revoked.removeEventListener('abort', breakOff)
    app.end()
  })
  app.revoked.addEventListener('abort', breakOff)
  app.touch()
}
