import { actionDenied, FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { Shown, Viewing } from './viewing.ts'

interface ShownTerminalParts {
  readonly attachments: Pick<Attachments, 'find'>
  readonly viewing: Viewing
}

/** What a client does with the terminal that it shows, whoever that belongs to. */
export class ShownTerminal {
  readonly #parts: ShownTerminalParts

  constructor(parts: ShownTerminalParts) {
    this.#parts = parts
  }

  /** Answers nothing unless somebody waits for it: keys that come after the end of a terminal are of no interest. */
  input(peer: Peer, bytes: Uint8Array, options: { channel: number | undefined; isAwaited: boolean }): void {
    const shown = this.#find(peer)
    const { channel, isAwaited } = options
    if (!shown || (channel !== undefined && channel !== shown.view.window.channel)) {
      if (isAwaited) throw new FrameError('not_connected', 'This terminal is not open on this connection')
    } else if (shown.view.input(bytes)) {
      if (shown.view.access === 'own') shown.container.used(shown.view)
    } else if (isAwaited) {
      throw actionDenied()
    }
  }

  resize(peer: Peer, said: { cols?: number | undefined; rows?: number | undefined }): void {
    const size = this.#parts.viewing.noteSize(peer, said)
    const shown = this.#find(peer)
    if (!shown) return
    shown.view.size = size
    if (shown.view.access === 'own') shown.container.used(shown.view)
    shown.container.settleSize(shown.view.window)
  }

  acknowledge(peer: Peer, { channel, offset }: { channel: number; offset: number }): void {
    const view = this.#find(peer)?.view
    if (view?.window.channel === channel) view.acknowledge(offset)
  }

  /** `joined` leaves only somebody else's. */
  stop(peer: Peer, options: { only?: 'joined' } = {}): void {
    const view = this.#find(peer)?.view
    if (view && (options.only !== 'joined' || view.isJoined)) this.#parts.viewing.leave(view.attachment)
  }

  #find(peer: Peer): Shown | undefined {
    const { attachments, viewing } = this.#parts
    const attachment = attachments.find(peer)
    return attachment && viewing.find(attachment)
  }
}
