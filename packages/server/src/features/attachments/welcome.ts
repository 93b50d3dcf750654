import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Peer } from '../../kernel/peer.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { WorkspaceStatus } from '../lifecycle/workspace-status.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { Attachment } from './attachment.ts'
import type { Attachments } from './attachments.ts'
import { eventFrame } from './news-frames.ts'
import type { StartProgress } from './start-progress.ts'

interface WelcomeParts {
  readonly attachments: Attachments
  readonly progress: StartProgress
  readonly workspaces: Pick<Workspaces, 'find'>
  readonly lifecycle: Pick<Lifecycle, 'status'>
}

/** What somebody who opens a workspace is told. */
export class Welcome {
  readonly #parts: WelcomeParts
  /** Those whose page is not there yet, with what it will be told. */
  readonly #untold = new WeakMap<Attachment, string>()

  constructor(parts: WelcomeParts) {
    this.#parts = parts
  }

  async connect(peer: Peer, workspaceId: string): Promise<ServerFrame> {
    const { attachments, progress, workspaces, lifecycle } = this.#parts
    const endFollowing = progress.follow(peer, workspaceId)
    try {
      // Before: from the moment it is open nothing is waited for, so what is told is true.
      const workspace = await workspaces.find(workspaceId)
      const attachment = await attachments.connect(peer, workspaceId)
      const status = lifecycle.status({ id: workspaceId })
      this.#untold.set(attachment, statusLine(status))
      return {
        type: 'container_ready',
        workspaceId,
        userId: attachment.userId,
        ports: status.ports,
        serviceCommand: workspace?.serviceCommand ?? null,
        userHome: attachment.userHome,
      }
    } finally {
      endFollowing()
    }
  }

  /** The event is told once; a page that is loaded later knows from `container_ready`. */
  pageIsThere(attachment: Attachment): void {
    const reason = this.#untold.get(attachment)
    if (reason === undefined) return
    this.#untold.delete(attachment)
    attachment.peer.send(eventFrame({ name: 'container_ready', value: { reason } }))
  }
}

function statusLine({ ports, idleTimeoutSeconds }: WorkspaceStatus): string {
  const reachable = ports.length === 0 ? [] : [`ports ${ports.join(', ')}`]
  const end = idleTimeoutSeconds ? [`stops after ${Math.round(idleTimeoutSeconds / 60)} minutes without use`] : []
  return ['The workspace is ready', ...reachable, ...end].join('; ')
}
