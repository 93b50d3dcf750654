import type { Permission } from '@svc/protocol/permissions'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { AgentPipe } from './agent-pipe.ts'
import { Relay } from './relay.ts'

/** Either is enough: both start programs that may need the agent. */
export const FORWARDING_PERMISSIONS = ['code-in-isolation', 'exec-and-sync'] as const satisfies Permission[]

interface SshRelaysParts {
  readonly attachments: Pick<Attachments, 'rightsChanged' | 'endUnlessAllowed'>
  readonly clock: Clock
  readonly background: Background
}

/**
 * The ssh agents of clients that are forwarded into workspaces: one for each connection at most, and one for each person
 * in a workspace. A second connection of the same person takes over; the agent in the workspace sees to that.
 */
export class SshRelays {
  readonly #parts: SshRelaysParts
  readonly #relays = new Map<Peer, Relay>()

  constructor(parts: SshRelaysParts) {
    this.#parts = parts
    parts.attachments.rightsChanged.subscribe((attachment) => this.#look(attachment))
  }

  /** Resolves with the path at which programs find the agent, once they do. */
  start(attachment: Attachment): Promise<string> {
    const { peer, left } = attachment
    const running = this.#relays.get(peer)
    if (running) return running.path()
    if (left.aborted) throw left.reason
    const relay = new Relay({
      attachment,
      clock: this.#parts.clock,
      ended: () => {
        if (this.#relays.get(peer) === relay) this.#relays.delete(peer)
      },
    })
    this.#relays.set(peer, relay)
    return relay.path()
  }

  findPipe(peer: Peer): AgentPipe | undefined {
    return this.#relays.get(peer)?.pipe
  }

  stop(peer: Peer): void {
    this.#relays.get(peer)?.close()
  }

  /** Whoever has lost the rights lends nobody an agent any more. */
  #look(attachment: Attachment): void {
    const relay = this.#relays.get(attachment.peer)
    if (!relay) return
    const { background, attachments } = this.#parts
    background.run('looking whether an ssh agent may still be forwarded', () =>
      attachments.endUnlessAllowed(attachment, FORWARDING_PERMISSIONS, () => relay.stop()),
    )
  }
}
