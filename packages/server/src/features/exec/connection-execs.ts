import type { FrameOf } from '@svc/protocol/ws/client-frames'
import type { AgentClient } from '../../agent/agent-client.ts'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { execRequest } from './exec-request.ts'
import { type ExecExit, namedVoice, plainVoice } from './exec-voice.ts'
import { KILLED, LiveExec, TIMED_OUT } from './live-exec.ts'

const MAX_AT_ONCE = 8
/** Ids of ended commands that are known, because something for them may still be on its way. */
const MAX_REMEMBERED = 64
/** The command of a client that has one at a time. No client can choose this id. */
const PLAIN = ''

/** A command with an id, and the number that names it in binary messages. */
export interface StartedExec {
  readonly execId: string
  readonly channel: number
}

interface Start {
  readonly attachment: Attachment
  readonly handle: string
  readonly frame: FrameOf<'exec_start'>
  /** Told before anything is heard of the command, and only when it has an id. */
  started(started: StartedExec): void
}

/** The commands of one connection. */
export class ConnectionExecs {
  readonly #peer: Peer
  readonly #clock: Clock
  readonly #background: Background
  readonly #live = new Map<string, LiveExec>()
  readonly #byChannel = new Map<number, LiveExec>()
  readonly #ended = new Set<string>()
  #lastChannel = 0
  /** Killed, and the agent has not said a word since: a client that starts and kills could bury it in work. */
  #ending = 0
  #watched: Attachment | undefined

  constructor({ peer, clock, background }: { peer: Peer; clock: Clock; background: Background }) {
    this.#peer = peer
    this.#clock = clock
    this.#background = background
  }

  get size(): number {
    return this.#live.size
  }

  start({ attachment, handle, frame, started }: Start): void {
    const { userId, userHome } = attachment
    const id = this.#idIn(frame)
    const mergeErrors = id === PLAIN || frame.stderr === 'merge'
    const request = execRequest(frame, { user: { userId, userHome, handle }, mergeErrors })
    const { agent } = attachment.requireRunning()
    this.#watch(attachment)
    this.#requireRoom(id)
    if (id === PLAIN) this.#live.get(PLAIN)?.kill()

    const channel = ++this.#lastChannel
    const live = new LiveExec({
      exec: agent.exec(request),
      hold: (bytes) => this.#peer.hold(bytes),
      voice: id === PLAIN ? plainVoice(this.#peer) : namedVoice(this.#peer, { execId: id, channel }),
      errors: mergeErrors ? 'stdout' : 'stderr',
      active: () => attachment.touch(),
      ended: ({ isKilled }) => {
        cancelLimit()
        if (isKilled) this.#awaitEnd(agent)
        this.#live.delete(id)
        this.#byChannel.delete(channel)
        this.#remember(id)
      },
    })
    const cancelLimit = this.#limit(live, frame.timeout_s)
    this.#ended.delete(id)
    this.#live.set(id, live)
    attachment.touch()
    if (id !== PLAIN) {
      this.#byChannel.set(channel, live)
      started({ execId: id, channel })
    }
    this.#background.run('running a command', () => live.run())
  }

  /** Undefined when it has ended: what was on its way to it comes too late, and is no fault. */
  find(frame: { readonly exec_id?: string | undefined }): LiveExec | undefined {
    const id = this.#idIn(frame)
    const live = this.#live.get(id)
    if (!live && !this.#ended.has(id)) throw noSuchCommand()
    return live
  }

  /** As `find`. */
  findByChannel(channel: number): LiveExec | undefined {
    const live = this.#byChannel.get(channel)
    if (!live && (channel === 0 || channel > this.#lastChannel)) throw noSuchCommand()
    return live
  }

  /**
   * As its client wants. Of a command without an id nothing more is heard, as when another takes its place: its end would
   * be taken for that of the next one.
   */
  stop(frame: { readonly exec_id?: string | undefined }): void {
    if (this.#idIn(frame) === PLAIN) this.#live.get(PLAIN)?.kill()
    else this.find(frame)?.kill(KILLED)
  }

  killAll(exit: ExecExit): void {
    for (const live of [...this.#live.values()]) live.kill(exit)
  }

  #idIn({ exec_id: id }: { readonly exec_id?: string | undefined }): string {
    return (this.#peer.has('exec2') ? id : undefined) ?? PLAIN
  }

  #requireRoom(id: string): void {
    const isReplaced = id === PLAIN && this.#live.has(id)
    if (!isReplaced && this.#live.has(id)) throw new FrameError('conflict', 'A command with this id is running already')
    if (this.#live.size - Number(isReplaced) + this.#ending >= MAX_AT_ONCE) {
      throw new FrameError('conflict', `This connection runs ${MAX_AT_ONCE} commands already: wait for one to end`)
    }
  }

  #awaitEnd(agent: AgentClient): void {
    this.#ending++
    const done = () => {
      this.#ending--
    }
    void agent.ping().then(done, done)
  }

  #limit(live: LiveExec, seconds: number | undefined): () => void {
    if (seconds === undefined) return () => {}
    return this.#clock.after(seconds * 1000, () => live.kill(TIMED_OUT))
  }

  #watch(attachment: Attachment): void {
    if (attachment.left.aborted) throw new FrameError('not_connected', 'The workspace was left')
    if (this.#watched === attachment) return
    this.#watched = attachment
    attachment.onLeft(() => this.#leave())
  }

  #leave(): void {
    if (!this.#peer.gone.aborted) this.killAll(KILLED)
    else for (const live of [...this.#live.values()]) live.abandon()
  }

  #remember(id: string): void {
    this.#ended.add(id)
    const [oldest] = this.#ended
    if (this.#ended.size > MAX_REMEMBERED && oldest !== undefined) this.#ended.delete(oldest)
  }
}

const noSuchCommand = (): FrameError => new FrameError('invalid', 'There is no such command: start one first')
