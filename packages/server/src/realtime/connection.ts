import type { Socket } from 'node:net'
import { SpareMemory } from '@svc/protocol/spare-memory'
import { type BinaryFrame, encodeBinary } from '@svc/protocol/ws/binary-frames'
import type { Capability } from '@svc/protocol/ws/capabilities'
import { type CloseCode, closeCodes } from '@svc/protocol/ws/close-codes'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { WebSocket } from 'ws'
import type { Clock } from '../kernel/clock.ts'
import type { Peer } from '../kernel/peer.ts'
import type { Caller, RequestFacts } from '../kernel/route.ts'
import { Expiry } from './expiry.ts'
import { InboundHold } from './inbound-hold.ts'
import { Liveness } from './liveness.ts'
import { Outbox } from './outbox.ts'

/** A client has this long to answer that the socket closes; then it is cut off. */
export const CLOSE_MS = 5_000

/** What was said before these is worth hearing; with all others the end is what matters. */
const flushing: ReadonlySet<number> = new Set([closeCodes.normal, closeCodes.restart])

interface ConnectionParts {
  readonly id: string
  readonly ws: WebSocket
  /** Below `ws`. */
  readonly socket: Socket
  readonly caller: Caller
  readonly request: RequestFacts
  readonly clock: Clock
}

/** One open socket: its owner, what goes out, and how it ends. What comes in is read by a `Conversation`. */
export class Connection implements Peer {
  readonly id: string
  readonly request: RequestFacts
  /** Resolves with the close code when nothing is left of the socket. */
  readonly closed: Promise<number>
  readonly #ws: WebSocket
  readonly #clock: Clock
  readonly #gone = new AbortController()
  readonly #memory = new SpareMemory(2)
  readonly #outbox: Outbox
  readonly #hold: InboundHold
  readonly #liveness: Liveness
  readonly #expiry: Expiry
  #caller: Caller
  #capabilities: ReadonlySet<Capability> = new Set()
  #isReading = false
  #cancelCutOff: (() => void) | undefined
  #renewal: Promise<void> | undefined

  constructor({ id, ws, socket, caller, request, clock }: ConnectionParts) {
    this.id = id
    this.request = request
    this.#ws = ws
    this.#clock = clock
    this.#caller = caller
    this.#outbox = new Outbox({ ws, clock, tooSlow: (why) => this.close(closeCodes.tryLater, why) })
    this.#hold = new InboundHold({ changed: () => this.#readOrPause() })
    this.#liveness = new Liveness({
      clock,
      ping: (sent) => ws.ping(undefined, false, () => sent()),
      bytesRead: () => socket.bytesRead,
      isPaused: () => ws.isPaused,
      isSending: () => this.#outbox.unsentBytes > 0,
      lost: () => ws.terminate(),
    })
    this.#expiry = new Expiry({ clock, expired: () => this.close(closeCodes.expired, 'The token has expired') })
    this.closed = new Promise((resolve) => {
      ws.once('close', (code) => {
        this.#leave()
        this.#cancelCutOff?.()
        this.#outbox.end()
        resolve(code)
      })
    })
    ws.on('error', () => this.#leave()) // it broke the protocol: no message can be made out any more
    ws.pause() // until somebody listens
  }

  get caller(): Caller {
    return this.#caller
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** The caller is being looked up anew: whatever depends on who it is waits for this. */
  get renewal(): Promise<void> | undefined {
    return this.#renewal
  }

  has(capability: Capability): boolean {
    return this.#capabilities.has(capability)
  }

  agreeOn(capabilities: ReadonlySet<Capability>): void {
    this.#capabilities = capabilities
  }

  send(frame: ServerFrame, sent?: () => void): void {
    this.#outbox.push({ bytes: Buffer.from(JSON.stringify(frame)), binary: false, sent })
  }

  sendBinary(frame: BinaryFrame, sent?: () => void): void {
    const bytes = encodeBinary(frame, (size) => this.#memory.lend(size))
    const wentOut = () => {
      this.#memory.giveBack(bytes)
      sent?.()
    }
    this.#outbox.push({ bytes, binary: true, sent: wentOut })
  }

  hold(bytes: number): () => void {
    return this.#hold.hold(bytes)
  }

  /** From now on messages come in. */
  read(): void {
    this.#isReading = true
    this.#readOrPause()
  }

  /** Epoch seconds. */
  expireAt(expiresAt: number): void {
    if (!this.gone.aborted) this.#expiry.set(expiresAt)
  }

  /** While `lookup` runs nothing is decided by the caller as it was; a later one replaces an earlier one. */
  renew(lookup: Promise<Caller>, failed: (error: unknown) => void): void {
    const renewal = lookup.then(
      (caller) => {
        if (this.#renewal !== renewal) return
        this.#renewal = undefined
        this.#caller = caller
      },
      (error: unknown) => {
        if (this.#renewal === renewal) failed(error)
      },
    )
    this.#renewal = renewal
  }

  close(code: CloseCode, reason: string): void {
    if (this.gone.aborted) return
    this.#leave()
    this.#cancelCutOff = this.#clock.after(CLOSE_MS, () => this.#ws.terminate())
    this.#outbox.finish({ drop: !flushing.has(code) }, () => this.#ws.close(code, reason))
    this.#readOrPause() // the client's own goodbye is waited for
  }

  /** Without a word: for those who do not answer. */
  terminate(): void {
    this.#ws.terminate()
  }

  #leave(): void {
    if (this.gone.aborted) return
    this.#liveness.stop()
    this.#expiry.stop()
    this.#gone.abort()
  }

  #readOrPause(): void {
    if (this.gone.aborted || (this.#isReading && !this.#hold.isPaused)) this.#ws.resume()
    else this.#ws.pause()
  }
}
