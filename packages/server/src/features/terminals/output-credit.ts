import { INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import { FLOW_WINDOW_BYTES } from '@svc/protocol/ws/capabilities'

/** The agent may always send its credit beyond what was given back, so that much less may be given back. */
const UNACKNOWLEDGED_BYTES = FLOW_WINDOW_BYTES - INITIAL_CREDIT

/**
 * How much of a terminal's output the agent may send: what the network took from us, and, of a client that says how far
 * it is, no more than a window beyond that. Positions are those of the output.
 */
export class OutputCredit {
  readonly #consume: (bytes: number) => void
  readonly #isAcknowledged: boolean
  #sent: number
  #acknowledged: number
  #given: number
  #isClientUnheard = false

  constructor(parts: {
    /** Where the output begins, and how far the client was then. */
    from: number
    acknowledged: number
    isAcknowledged: boolean
    consume(bytes: number): void
  }) {
    this.#consume = parts.consume
    this.#isAcknowledged = parts.isAcknowledged
    this.#sent = parts.from
    this.#given = parts.from
    this.#acknowledged = parts.acknowledged
  }

  /**
   * What the client says is not read while it waits to be typed. A shell that waits for its output to be taken reads
   * nothing that was typed, so to wait for an acknowledgement then would be to wait for ever.
   */
  set isClientUnheard(isSo: boolean) {
    this.#isClientUnheard = isSo
    this.#giveBack()
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** The network has taken so many bytes more. */
  sent(bytes: number): void {
    this.#sent += bytes
    this.#giveBack()
  }

  /** The client has dealt with the output up to here. One that says so of what it has not got fools only itself. */
  acknowledge(offset: number): void {
    if (offset <= this.#acknowledged) return
    this.#acknowledged = offset
    this.#giveBack()
  }

  /** Output was passed over by so many bytes, up to `to`. What of before is still to be sent stays to be sent. */
  skip(bytes: number, to: number): void {
    this.#sent += bytes
    this.#given += bytes
    this.#acknowledged = to
  }

  #giveBack(): void {
    const isBound = this.#isAcknowledged && !this.#isClientUnheard
    const limit = isBound ? Math.min(this.#sent, this.#acknowledged + UNACKNOWLEDGED_BYTES) : this.#sent
    if (limit <= this.#given) return
    this.#consume(limit - this.#given)
    this.#given = limit
  }
}
