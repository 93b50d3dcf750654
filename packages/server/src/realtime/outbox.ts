import type { WebSocket } from 'ws'
import type { Clock } from '../kernel/clock.ts'

/** Handed to the network at once; the rest waits here. So little that a slow line shows progress long before it is given up. */
const IN_FLIGHT_BYTES = 128 * 1024
/** Longer messages go in pieces, for the same reason. */
const PIECE_BYTES = 64 * 1024
/** For so long nothing may have gone out while something waits. */
const STALLED_MS = 30_000
/** What may wait. Bulk waits for `sent`, so only a client that takes nothing, or next to nothing, comes here. */
const WAITING_BYTES = 8 * 1024 * 1024

interface Message {
  readonly bytes: Uint8Array
  readonly binary: boolean
  readonly sent: (() => void) | undefined
}

/** What is on its way to one client: in order, never dropped, and never more than a bound. */
export class Outbox {
  readonly #ws: WebSocket
  readonly #clock: Clock
  /** The client takes too little: called once. */
  readonly #tooSlow: (why: string) => void
  #waiting: Message[] = []
  /** The first of `#waiting` that is not begun, or not handed over to its end. */
  #next = 0
  /** How much of it was handed over. */
  #begun = 0
  #waitingBytes = 0
  #inFlightBytes = 0
  #progressMs = 0
  #cancelWatch: (() => void) | undefined
  #state: 'open' | 'finishing' | 'ended' = 'open'
  #whenEmpty: (() => void) | undefined

  constructor(parts: { ws: WebSocket; clock: Clock; tooSlow: (why: string) => void }) {
    this.#ws = parts.ws
    this.#clock = parts.clock
    this.#tooSlow = parts.tooSlow
  }

  /** Bytes that the network has not taken yet. */
  get unsentBytes(): number {
    return this.#waitingBytes + this.#inFlightBytes
  }

  push(message: Message): void {
    if (this.#state !== 'open') {
      message.sent?.()
      return
    }
    if (this.unsentBytes === 0) this.#progressMs = this.#clock.nowMs()
    this.#waiting.push(message)
    this.#waitingBytes += message.bytes.length
    this.#pump()
    if (this.#waitingBytes > WAITING_BYTES) this.#tooSlow('too much waits to be sent')
    else if (this.unsentBytes > 0) this.#watch(STALLED_MS)
  }

  /** Takes nothing more. `then` is called when what waited has been handed over, or was dropped. */
  finish(options: { drop: boolean }, then: () => void): void {
    if (this.#state !== 'open') return
    this.#state = 'finishing'
    this.#cancelWatch?.()
    if (options.drop) this.#drop()
    if (this.#waiting.length === 0) then()
    else this.#whenEmpty = then
  }

  /** The socket is gone: nobody waits any longer. */
  end(): void {
    this.#state = 'ended'
    this.#cancelWatch?.()
    this.#drop()
  }

  #pump(): void {
    while (this.#inFlightBytes < IN_FLIGHT_BYTES) {
      const message = this.#waiting[this.#next]
      if (!message) break
      const { bytes, binary, sent } = message
      const piece = bytes.length <= PIECE_BYTES ? bytes : bytes.subarray(this.#begun, this.#begun + PIECE_BYTES)
      const { length } = piece
      this.#begun += length
      const fin = this.#begun >= bytes.length
      this.#inFlightBytes += length
      this.#waitingBytes -= length
      if (fin) this.#takeNext()
      this.#ws.send(piece, { binary, fin }, () => this.#wentOut(length, fin ? sent : undefined))
    }
    if (this.#waiting.length === 0) this.#handedOver()
  }

  #takeNext(): void {
    this.#begun = 0
    this.#next++
    if (this.#next === this.#waiting.length) {
      this.#waiting = []
      this.#next = 0
    } else if (this.#next >= 1024) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
  }

  #wentOut(bytes: number, sent: (() => void) | undefined): void {
    this.#inFlightBytes -= bytes
    this.#progressMs = this.#clock.nowMs()
    sent?.()
    if (this.#waiting.length > 0) this.#pump()
  }

  #handedOver(): void {
    const then = this.#whenEmpty
    this.#whenEmpty = undefined
    then?.()
  }

  #drop(): void {
    const dropped = this.#waiting.slice(this.#next)
    this.#waiting = []
    this.#next = 0
    this.#begun = 0
    this.#waitingBytes = 0
    for (const { sent } of dropped) sent?.()
    this.#handedOver()
  }

  /** One timer while anything is unsent, and not one for each message. */
  #watch(delayMs: number): void {
    this.#cancelWatch ??= this.#clock.after(delayMs, () => {
      this.#cancelWatch = undefined
      if (this.#state !== 'open' || this.unsentBytes === 0) return
      const stalledMs = this.#clock.nowMs() - this.#progressMs
      if (stalledMs >= STALLED_MS) this.#tooSlow('nothing was taken for 30 s')
      else this.#watch(STALLED_MS - stalledMs)
    })
  }
}
