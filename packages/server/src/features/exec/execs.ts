import type { Permission } from '@svc/protocol/permissions'
import type { FrameOf } from '@svc/protocol/ws/client-frames'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import { ConnectionExecs, type StartedExec } from './connection-execs.ts'
import { KILLED } from './live-exec.ts'

export const EXEC_PERMISSION = 'exec-and-sync' satisfies Permission

interface ExecsParts {
  readonly attachments: Pick<Attachments, 'rightsChanged' | 'endUnlessAllowed'>
  handleOf(userId: string): Promise<string>
  readonly clock: Clock
  readonly background: Background
}

/** Commands that people run in workspaces without a terminal: scripts, and the far side of a sync. */
export class Execs {
  readonly #parts: ExecsParts
  readonly #ofPeer = new WeakMap<Peer, ConnectionExecs>()

  constructor(parts: ExecsParts) {
    this.#parts = parts
    parts.attachments.rightsChanged.subscribe((attachment) => this.#look(attachment))
  }

  of(peer: Peer): ConnectionExecs {
    const known = this.#ofPeer.get(peer)
    if (known) return known
    const { clock, background } = this.#parts
    const execs = new ConnectionExecs({ peer, clock, background })
    this.#ofPeer.set(peer, execs)
    return execs
  }

  /** `started` is told before anything is heard of the command, and only when it has an id. */
  async start(
    attachment: Attachment,
    frame: FrameOf<'exec_start'>,
    started: (started: StartedExec) => void,
  ): Promise<void> {
    const handle = await this.#parts.handleOf(attachment.userId)
    this.of(attachment.peer).start({ attachment, handle, frame, started })
    // The right may have gone after it was looked at, and before there was anything to end.
    this.#look(attachment)
  }

  /** Whoever has lost the right has no command left. */
  #look(attachment: Attachment): void {
    const { background, attachments } = this.#parts
    const execs = this.#ofPeer.get(attachment.peer)
    if (!execs || execs.size === 0) return
    background.run('looking whether commands may go on', () =>
      attachments.endUnlessAllowed(attachment, [EXEC_PERMISSION], () => execs.killAll(KILLED)),
    )
  }
}
