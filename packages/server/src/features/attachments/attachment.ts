import { FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { RunningWorkspace } from '../lifecycle/running-container.ts'

/**
 * A socket that has a workspace open. It outlives the container: after a restart the same attachment finds the new one.
 * Features keep what they have for it until `left`.
 */
export class Attachment {
  readonly peer: Peer
  readonly workspaceId: string
  /** The home of this person in the workspace. */
  readonly userHome: string
  /** Aborted once, when the socket leaves the workspace or is gone. A listener that may fail takes `onLeft` instead. */
  readonly left: AbortSignal
  readonly #find: () => RunningWorkspace | undefined
  readonly #failed: (error: unknown) => void

  constructor(parts: {
    peer: Peer
    workspaceId: string
    userHome: string
    left: AbortSignal
    find: () => RunningWorkspace | undefined
    /** What could not be cleaned up. */
    failed: (error: unknown) => void
  }) {
    this.peer = parts.peer
    this.workspaceId = parts.workspaceId
    this.userHome = parts.userHome
    this.left = parts.left
    this.#find = parts.find
    this.#failed = parts.failed
  }

  get userId(): string {
    return this.peer.caller.userId
  }

  find(): RunningWorkspace | undefined {
    return this.#find()
  }

  /** Take it anew for each piece of work: the container may be another one by then. */
  requireRunning(): RunningWorkspace {
    const running = this.#find()
    if (!running) throw new FrameError('container_gone', 'The workspace has stopped: open it again')
    return running
  }

  /** Somebody uses the workspace. */
  touch(): void {
    this.#find()?.touch()
  }

  /**
   * Clean-up, once; at once when it has left already. One that fails is logged and keeps nobody else from theirs. The
   * answer takes it back: what comes and goes while somebody stays must not gather here.
   */
  onLeft(cleanUp: () => void | Promise<void>): () => void {
    const guarded = async () => {
      try {
        await cleanUp()
      } catch (error) {
        this.#failed(error)
      }
    }
    const listener = () => void guarded()
    if (this.left.aborted) listener()
    else this.left.addEventListener('abort', listener, { once: true })
    return () => this.left.removeEventListener('abort', listener)
  }
}
