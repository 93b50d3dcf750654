import type { Clock } from '../../kernel/clock.ts'
import type { Peer } from '../../kernel/peer.ts'
import { isoTime } from '../../kernel/wire-time.ts'

interface HealthHeartbeatsParts {
  readonly isHealthOnTime: () => boolean
  readonly intervalSeconds: () => number
  readonly clock: Clock
}

/**
 * Tells those who asked that health checks are being made. Each workspace is checked in a rhythm of its own, and there
 * may be none to check, so it is told once in each of the server's own intervals, and only while no check is late:
 * silence means that what is known of the services may be old.
 */
export class HealthHeartbeats {
  readonly #parts: HealthHeartbeatsParts
  readonly #peers = new Set<Peer>()
  /** Those whose end is listened for: a client may change its mind any number of times. */
  readonly #heeded = new WeakSet<Peer>()
  #cancel: (() => void) | undefined

  constructor(parts: HealthHeartbeatsParts) {
    this.#parts = parts
  }

  /** From now on, or no longer. */
  subscribe(peer: Peer, isWanted: boolean): void {
    if (!isWanted) this.#drop(peer)
    else if (!peer.gone.aborted && !this.#peers.has(peer)) this.#add(peer)
  }

  end(): void {
    this.#peers.clear()
    this.#rest()
  }

  #add(peer: Peer): void {
    this.#peers.add(peer)
    if (!this.#heeded.has(peer)) peer.gone.addEventListener('abort', () => this.#drop(peer), { once: true })
    this.#heeded.add(peer)
    this.#plan()
  }

  #drop(peer: Peer): void {
    this.#peers.delete(peer)
    if (this.#peers.size === 0) this.#rest()
  }

  #rest(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #plan(): void {
    const { intervalSeconds, clock } = this.#parts
    this.#cancel ??= clock.after(intervalSeconds() * 1000, () => {
      this.#cancel = undefined
      this.#beat()
      this.#plan()
    })
  }

  #beat(): void {
    const { isHealthOnTime, clock } = this.#parts
    if (!isHealthOnTime()) return
    const timestamp = isoTime(clock.nowMs() / 1000)
    for (const peer of this.#peers) peer.send({ type: 'service_health_heartbeat', timestamp })
  }
}
