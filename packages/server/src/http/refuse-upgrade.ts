import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** Answers an upgrade as a request is answered: with a status and JSON. For those whom no close code would reach. */
export function refuseUpgrade(socket: Duplex, status: number, json: string): void {
  socket.resume() // what was sent and not read would turn the end into a reset, and the answer might be lost
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(json)}`,
      '',
      json,
    ].join('\r\n'),
    () => socket.destroy(),
  )
}
