import { once } from 'node:events'
import { type BinaryFrame, decodeBinary, encodeBinary } from '@svc/protocol/ws/binary-frames'
import { FLOW_STEP_BYTES } from '@svc/protocol/ws/capabilities'
import { WebSocket } from 'ws'

const SIZE = { cols: 120, rows: 40 }
const WAIT_MS = 60_000

export interface Door {
  readonly api: string
  readonly token: string
  readonly workspaceId: string
}

type Frame = Readonly<Record<string, unknown>>

/** One socket that shows one window of its own, as the web page has it: bytes, with acknowledgements. */
export class TerminalSocket {
  /** Told of all output. */
  output: (bytes: Uint8Array) => void = () => {}
  readonly #ws: WebSocket
  readonly #waiting = new Set<(frame: Frame) => void>()
  #channel = 0
  #acknowledged = 0

  private constructor(ws: WebSocket) {
    this.#ws = ws
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      const frame = isBinary ? decodeBinary(data) : undefined
      if (frame) this.#take(frame)
      else for (const hear of this.#waiting) hear(JSON.parse(data.toString()))
    })
  }

  static async open({ api, token, workspaceId }: Door, windowName: string): Promise<TerminalSocket> {
    const ws = new WebSocket(new URL('/ws', api.replace('http', 'ws')), ['bearer', token], { perMessageDeflate: false })
    await once(ws, 'open')
    const socket = new TerminalSocket(ws)
    await socket.#ask({ cmd: 'hello', v: 1, caps: ['bin', 'flow', 'resume', 'exit'] }, 'hello')
    await socket.#ask({ cmd: 'workspace_connect', workspaceId }, 'container_ready')
    const { windows } = await socket.#ask({ cmd: 'terminal_new_window', name: windowName }, 'terminal_windows')
    const window = Array.isArray(windows) ? windows.find((one) => Reflect.get(one, 'name') === windowName) : undefined
    const wish = { cmd: 'terminal_start', ...SIZE, window_id: Reflect.get(Object(window), 'id') }
    const started = await socket.#ask(wish, 'terminal_started')
    socket.#channel = Number(started.channel)
    return socket
  }

  type(text: string): void {
    const payload = Buffer.from(text)
    this.#ws.send(encodeBinary({ kind: 'terminalInput', channel: this.#channel, offset: 0, payload }))
  }

  /** Resolves when the output since now holds this text. */
  shows(text: string): Promise<void> {
    let seen = ''
    const shown = Promise.withResolvers<void>()
    this.output = (bytes) => {
      seen = seen.slice(-1000) + Buffer.from(bytes).toString('latin1')
      if (seen.includes(text)) shown.resolve()
    }
    return withinTime(shown.promise, () => `the terminal does not show ${text}, but ${seen.slice(-200)}`)
  }

  close(): void {
    this.#ws.terminate()
  }

  #take({ kind, channel, offset, payload }: BinaryFrame): void {
    if (channel !== this.#channel || kind !== 'terminalOutput') return
    this.output(payload)
    const end = offset + payload.length
    if (end - this.#acknowledged < FLOW_STEP_BYTES / 2) return
    this.#acknowledged = end
    this.#ws.send(JSON.stringify({ cmd: 'terminal_ack', channel, offset: end }))
  }

  #ask(command: Frame, answer: string): Promise<Frame> {
    const answered = Promise.withResolvers<Frame>()
    let last: Frame = {}
    const hear = (frame: Frame) => {
      last = frame
      if (frame.type === answer) answered.resolve(frame)
      else if (frame.type === 'error') answered.reject(new Error(JSON.stringify(frame)))
    }
    this.#waiting.add(hear)
    this.#ws.send(JSON.stringify(command))
    return withinTime(answered.promise, () => `no ${answer} came, but ${JSON.stringify(last)}`).finally(() =>
      this.#waiting.delete(hear),
    )
  }
}

async function withinTime<T>(wanted: Promise<T>, why: () => string): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(new Error(why())), WAIT_MS)
  try {
    return await Promise.race([wanted, over.promise])
  } finally {
    clearTimeout(timer)
  }
}
