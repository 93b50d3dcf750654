import { once } from 'node:events'
import { type BinaryFrame, type BinaryKind, decodeBinary, encodeBinary } from '@svc/protocol/ws/binary-frames'
import type { Capability } from '@svc/protocol/ws/capabilities'
import { capabilities as allCapabilities } from '@svc/protocol/ws/capabilities'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import { WebSocket } from 'ws'

/** A frame as it came: of one type, with the `req` it answers, if any. */
export type FrameOfType<T extends ServerFrame['type']> = Extract<ServerFrame, { type: T }> & { req?: string }
export type AnyFrame = ServerFrame & { req?: string }

const TERMINAL_KINDS: ReadonlySet<BinaryKind> = new Set(['terminalOutput', 'terminalScreen', 'terminalScreenPart'])

/** How long a test waits for something to come. */
const WAIT_MS = 10_000

export interface SocketOptions {
  /** Asked for with `hello`; `all` of them. Without: the plain protocol, and no `hello`. */
  readonly caps?: readonly Capability[] | 'all'
  readonly path?: string
  /** In place of `bearer` and the token. */
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** False: pings are not answered. */
  readonly autoPong?: boolean
}

/** A plain client of `/ws`. Everything that came is kept; `next` hands out what has not been asked for yet. */
export class SocketClient {
  readonly ws: WebSocket
  /** All that came, in order. */
  readonly frames: AnyFrame[] = []
  readonly binary: BinaryFrame[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  /** Text of the terminal so far, in whichever form it came. */
  output = ''
  readonly #decoder = new TextDecoder()
  #unseen: AnyFrame[] = []
  readonly #waiting = new Set<() => void>()
  #isOver = false

  constructor(ws: WebSocket) {
    this.ws = ws
    this.closed = new Promise((resolve) => {
      ws.on('close', (code, reason) => {
        this.#isOver = true
        resolve({ code, reason: reason.toString() })
        this.#wake()
      })
    })
    ws.on('error', () => undefined) // told by `closed`
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#takeBinary(data)
      else this.#take(JSON.parse(data.toString()))
      this.#wake()
    })
  }

  send(frame: Readonly<Record<string, unknown>>): void {
    this.ws.send(JSON.stringify(frame))
  }

  sendRaw(data: string | Uint8Array): void {
    this.ws.send(data)
  }

  sendBinary(frame: BinaryFrame): void {
    this.ws.send(encodeBinary(frame))
  }

  /** The next frame of this type that nobody asked for yet; others are kept. */
  async next<T extends ServerFrame['type']>(
    type: T,
    fits: (frame: FrameOfType<T>) => boolean = () => true,
  ): Promise<FrameOfType<T>> {
    let found: FrameOfType<T> | undefined
    await this.until(() => {
      const index = this.#unseen.findIndex((frame) => isOfType(frame, type) && fits(frame))
      const [frame] = index === -1 ? [] : this.#unseen.splice(index, 1)
      if (frame && isOfType(frame, type)) found = frame
      return found !== undefined
    }, `a frame ${type}`)
    if (!found) throw new Error(`no frame ${type}`)
    return found
  }

  /** Resolves when it is so; asked each time something comes. */
  async until(isSo: () => boolean, what = 'something'): Promise<void> {
    const deadline = Date.now() + WAIT_MS
    while (!isSo()) {
      if (this.#isOver || Date.now() > deadline) throw new Error(`waited for ${what}; ${this.#story()}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      const timer = setTimeout(resolve, 200)
      await promise
      clearTimeout(timer)
      this.#waiting.delete(resolve)
    }
  }

  untilOutput(text: string): Promise<void> {
    return this.until(() => this.output.includes(text), `the output ${JSON.stringify(text)}`)
  }

  /** Everything sent before this was dealt with by the reading side: a command that answers at once is answered. */
  async roundTrip(): Promise<void> {
    const seen = this.frames.length
    this.send({ cmd: 'no such command' })
    await this.until(() =>
      this.frames.slice(seen).some((frame) => frame.type === 'error' && frame.cmd === 'no such command'),
    )
  }

  /** For tests that send so much that nobody could keep the answers. */
  forget(): void {
    this.frames.length = 0
    this.binary.length = 0
    this.#unseen = []
    this.output = ''
  }

  pause(): void {
    this.ws.pause()
  }

  resume(): void {
    this.ws.resume()
  }

  async close(): Promise<void> {
    this.ws.resume()
    this.ws.close(1000)
    await this.closed
  }

  terminate(): void {
    this.ws.terminate()
  }

  #take(frame: AnyFrame): void {
    this.frames.push(frame)
    this.#unseen.push(frame)
    if (frame.type === 'terminal_output') this.output += frame.data
  }

  #takeBinary(data: Buffer): void {
    const frame = decodeBinary(data)
    if (!frame) throw new Error('a binary message that is none')
    this.binary.push(frame)
    if (TERMINAL_KINDS.has(frame.kind)) {
      this.output += this.#decoder.decode(frame.payload, { stream: true })
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  #story(): string {
    const came = this.frames.map((frame) => (frame.type === 'error' ? JSON.stringify(frame) : frame.type)).slice(-30)
    const output = this.output === '' ? '' : `; output ends ${JSON.stringify(this.output.slice(-300))}`
    return `${this.#isOver ? 'the socket is closed; ' : ''}came: ${came.join(', ') || 'nothing'}${output}`
  }
}

const isOfType = <T extends ServerFrame['type']>(frame: AnyFrame, type: T): frame is FrameOfType<T> =>
  frame.type === type

/** Resolves after the upgrade, and after `hello` when capabilities are asked for. */
export async function openSocket(
  port: number,
  token: string | undefined,
  { caps, path = '/ws', protocols, headers = {}, autoPong = true }: SocketOptions = {},
): Promise<SocketClient> {
  const offered = protocols ?? (token === undefined ? [] : ['bearer', token])
  const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...offered], {
    perMessageDeflate: false,
    headers: { ...headers },
    autoPong,
  })
  const client = new SocketClient(ws)
  await once(ws, 'open')
  if (caps) {
    client.send({ cmd: 'hello', v: 1, client: 'test', caps: caps === 'all' ? allCapabilities : caps })
    await client.next('hello')
  }
  return client
}
