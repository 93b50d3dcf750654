import type { SshConnection } from '../../agent/ssh-connection.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Peer } from '../../kernel/peer.ts'

/** A program that reads nothing for so long is cut off: what waits for it keeps its client from being heard. */
const STUCK_MS = 10_000

/** What the agent of a client answers, on its way to one program. */
export class Replies {
  readonly #connection: SshConnection
  readonly #peer: Peer
  readonly #clock: Clock
  #waiting = 0
  #written: Promise<void> = Promise.resolve()
  #cancelCutOff: (() => void) | undefined

  constructor(parts: { connection: SshConnection; peer: Peer; clock: Clock }) {
    this.#connection = parts.connection
    this.#peer = parts.peer
    this.#clock = parts.clock
  }

  write(bytes: Uint8Array): void {
    if (this.#connection.isOver || bytes.length === 0) return
    const release = this.#peer.hold(bytes.length)
    this.#waiting++
    this.#written = this.#connection.write(bytes).then(() => {
      release()
      this.#waiting--
      this.#watch()
    })
    if (this.#waiting === 1) this.#watch()
  }

  /** Lets go of the program once it has everything that was written. */
  async finish(): Promise<void> {
    await this.#written
    this.#connection.close()
  }

  /** Anew after each step: slow is not stuck. */
  #watch(): void {
    this.#cancelCutOff?.()
    this.#cancelCutOff = this.#waiting === 0 ? undefined : this.#clock.after(STUCK_MS, () => this.#connection.close())
  }
}
