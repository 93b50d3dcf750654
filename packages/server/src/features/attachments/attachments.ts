import type { Permission } from '@svc/protocol/permissions'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import { AgentError, AgentLost } from '../../agent/agent-error.ts'
import { Announcer } from '../../kernel/announcer.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError, workspaceDenied } from '../../kernel/frame-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Peer } from '../../kernel/peer.ts'
import { deadline, TookTooLong } from '../lifecycle/deadline.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { Attachment } from './attachment.ts'
import type { OpenWorkspaces } from './open-workspaces.ts'
import { startRefusal } from './start-refusal.ts'
import type { UserHome, UserHomes } from './user-home.ts'
import type { WorkspaceRights } from './workspace-rights.ts'

/** What the agent may take to make a home from its skeleton. */
const HOME_MS = 30_000

interface AttachmentsParts {
  readonly open: OpenWorkspaces
  readonly workspaces: Pick<Workspaces, 'find'>
  readonly lifecycle: Pick<Lifecycle, 'start' | 'find'>
  readonly rights: Pick<WorkspaceRights, 'allows'>
  readonly homes: UserHomes
  readonly clock: Clock
  readonly log: Logger
}

/** Lets sockets into workspaces and out of them. A workspace runs on when the last one leaves. */
export class Attachments {
  /** What this person may do in the workspace may have changed; that they may be in it was looked at. */
  readonly rightsChanged = new Announcer<Attachment>()
  readonly #parts: AttachmentsParts
  readonly #leave = new WeakMap<Attachment, AbortController>()

  constructor(parts: AttachmentsParts) {
    this.#parts = parts
  }

  /** Starts the workspace if need be. What the socket had open before is left. Throws a `FrameError` for a refusal. */
  async connect(peer: Peer, workspaceId: string): Promise<Attachment> {
    const { workspaces, lifecycle, rights, homes } = this.#parts
    const { userId } = peer.caller
    const workspace = await workspaces.find(workspaceId)
    if (!workspace) throw notFound()
    this.disconnect(peer)
    const home = await homes.homeOf(userId, workspace)
    const actor = { type: 'user', id: userId } as const
    const { externalUrl } = peer.request
    try {
      await lifecycle.start(workspaceId, { cause: 'ws_connect', actor, externalUrl })
    } catch (error) {
      throw startRefusal(error)
    }
    const attachment = this.#attach(peer, workspaceId, home)
    try {
      // Only now: whatever changes from here on finds the attachment.
      if (!(await rights.allows(userId, 'join-workspace', workspaceId))) throw workspaceDenied()
      await this.#prepare(home, attachment)
      if (attachment.left.aborted) throw attachment.left.reason
      attachment.requireRunning().touch()
    } catch (error) {
      this.#end(attachment, error)
      throw error
    }
    return attachment
  }

  disconnect(peer: Peer): void {
    const attachment = this.find(peer)
    if (attachment) this.#end(attachment, left())
  }

  /** Ends it against the will of the person, who is told why. */
  expel(attachment: Attachment, why: FrameError): void {
    if (attachment.left.aborted) return
    this.#end(attachment, why)
    const { message, code } = why
    attachment.peer.send({ type: 'error', message, ...(code ? { code } : {}) })
  }

  find(peer: Peer): Attachment | undefined {
    return this.#parts.open.find(peer)
  }

  in(workspaceId: string): readonly Attachment[] {
    return this.#parts.open.in(workspaceId)
  }

  /** At this moment. */
  allows(
    { userId, workspaceId }: Pick<Attachment, 'userId' | 'workspaceId'>,
    permission: Permission,
  ): Promise<boolean> {
    return this.#parts.rights.allows(userId, permission, workspaceId)
  }

  /**
   * Ends what somebody does in a workspace unless one of these permissions is theirs at this moment. It ends as well when
   * that cannot be found out.
   */
  async endUnlessAllowed(
    somebody: Pick<Attachment, 'userId' | 'workspaceId'>,
    anyOf: readonly Permission[],
    end: () => void,
  ): Promise<void> {
    let isAllowed = false
    try {
      for (const permission of anyOf) isAllowed ||= await this.allows(somebody, permission)
    } finally {
      if (!isAllowed) end()
    }
  }

  /** To everybody who has the workspace open. */
  broadcast(workspaceId: string, frame: ServerFrame): void {
    for (const { peer } of this.in(workspaceId)) peer.send(frame)
  }

  #attach(peer: Peer, workspaceId: string, home: UserHome): Attachment {
    const { open, lifecycle, log } = this.#parts
    if (peer.gone.aborted) throw left()
    const leaving = new AbortController()
    const attachment = new Attachment({
      peer,
      workspaceId,
      userHome: home.path,
      left: leaving.signal,
      find: () => lifecycle.find(workspaceId),
      failed: (error) => log.error('leaving a workspace left something behind', { workspace: workspaceId, error }),
    })
    this.#leave.set(attachment, leaving)
    open.add(attachment)
    peer.gone.addEventListener('abort', () => this.#end(attachment, left()), { once: true, signal: leaving.signal })
    return attachment
  }

  /** The agent is in the hands of whoever holds the workspace: it may refuse, or never answer. */
  async #prepare({ member }: UserHome, attachment: Attachment): Promise<void> {
    if (!member) return
    const { agent } = attachment.requireRunning()
    const { signal, done } = deadline(this.#parts.clock, HOME_MS, 'preparing the home', attachment.left)
    try {
      await agent.prepareHome(member.userId, member.handle, { signal })
    } catch (cause) {
      if (cause instanceof AgentLost) throw new FrameError('container_gone', 'The workspace has stopped', { cause })
      if (!(cause instanceof AgentError) && !(cause instanceof TookTooLong)) throw cause
      throw new FrameError('start_failed', 'Your home in the workspace could not be prepared', { cause })
    } finally {
      done()
    }
  }

  #end(attachment: Attachment, why: unknown): void {
    this.#parts.open.remove(attachment)
    this.#leave.get(attachment)?.abort(why)
  }
}

export const notFound = (): FrameError => new FrameError('not_found', 'Workspace not found')
const left = (): FrameError => new FrameError('not_connected', 'The workspace was left')
