import type { Clock } from '../../kernel/clock.ts'
import type { Peer } from '../../kernel/peer.ts'
import { OutputBatch } from './output-batch.ts'
import type { Size } from './terminal-size.ts'
import type { ScreenPart } from './terminal-stream.ts'
import { wholeCharacters } from './whole-characters.ts'

/** Forgets everything that was drawn before. */
const RESET = Buffer.from('\x1bc')
const NOTHING = new Uint8Array()

/** Writes what a terminal shows to one client: as bytes or as text, whichever it understands. */
export class TerminalWriter {
  readonly #peer: Peer
  readonly #channel: number
  readonly #batch: OutputBatch
  readonly #isBinary: boolean
  readonly #isPositioned: boolean
  /** Place in the output of what is delivered next. */
  #offset = 0
  /** The beginning of a character, for clients that take text. */
  #tail: Uint8Array = NOTHING
  #sent: (bytes: number) => void = () => {}

  constructor(parts: { peer: Peer; channel: number; clock: Clock }) {
    this.#peer = parts.peer
    this.#channel = parts.channel
    this.#isBinary = parts.peer.has('bin')
    this.#isPositioned = parts.peer.has('resume') || parts.peer.has('flow')
    this.#batch = new OutputBatch({ clock: parts.clock, deliver: (bytes) => this.#deliver(bytes) })
  }

  /** The output comes from here on, at first or after the agent was lost. `sent` is told of every byte of it. */
  follow(offset: number, sent: (bytes: number) => void): void {
    this.#batch.flush()
    this.#sent = sent
    this.#offset = offset - this.#tail.length
  }

  screen({ bytes, isFirst, offset }: ScreenPart, sent: () => void): void {
    if (isFirst) this.#finish()
    const payload = isFirst ? Buffer.concat([RESET, bytes]) : bytes
    if (this.#isBinary) {
      const kind = offset === undefined ? 'terminalScreenPart' : 'terminalScreen'
      this.#peer.sendBinary({ kind, channel: this.#channel, offset: offset ?? 0, payload }, sent)
    } else {
      this.#sendScreenText(payload, offset, sent)
    }
    this.#offset = offset ?? 0
  }

  output(bytes: Uint8Array): void {
    this.#batch.push(bytes)
  }

  expectEcho(): void {
    this.#batch.expectEcho()
  }

  resized(size: Size): void {
    this.#batch.flush()
    if (this.#peer.has('size')) this.#peer.send({ type: 'terminal_resized', channel: this.#channel, ...size })
  }

  /** All of it goes out now. */
  end(): void {
    this.#finish()
    this.#batch.drop()
  }

  /** What was not sent yet is of no use any more. */
  drop(): void {
    this.#batch.drop()
  }

  #finish(): void {
    this.#batch.flush()
    if (this.#tail.length > 0) this.#sendText(this.#tail)
    this.#tail = NOTHING
  }

  #deliver(bytes: Uint8Array): void {
    if (this.#isBinary) this.#sendBytes(bytes)
    else this.#deliverText(bytes)
  }

  #deliverText(bytes: Uint8Array): void {
    const all = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes])
    const whole = wholeCharacters(all)
    this.#tail = all.subarray(whole)
    if (whole > 0) this.#sendText(all.subarray(0, whole))
  }

  #sendBytes(payload: Uint8Array): void {
    const offset = this.#offset
    const sent = this.#sent
    this.#offset += payload.length
    this.#peer.sendBinary({ kind: 'terminalOutput', channel: this.#channel, offset, payload }, () =>
      sent(payload.length),
    )
  }

  #sendScreenText(bytes: Uint8Array, offset: number | undefined, sent: () => void): void {
    const all = Buffer.concat([this.#tail, bytes])
    const whole = offset === undefined ? wholeCharacters(all) : all.length
    this.#tail = all.subarray(whole)
    const place = this.#isPositioned ? { channel: this.#channel, ...(offset === undefined ? {} : { offset }) } : {}
    this.#peer.send({ type: 'terminal_output', data: all.toString('utf8', 0, whole), ...place, screen: true }, sent)
  }

  #sendText(bytes: Uint8Array): void {
    const sent = this.#sent
    this.#offset += bytes.length
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    const place = this.#isPositioned ? { channel: this.#channel, offset: this.#offset } : {}
    this.#peer.send({ type: 'terminal_output', data, ...place }, () => sent(bytes.length))
  }
}
