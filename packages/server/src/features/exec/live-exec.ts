import type { Readable } from 'node:stream'
import { AgentError, AgentLost } from '../../agent/agent-error.ts'
import type { Exec } from '../../agent/exec.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import { wireSignal } from './exec-signal.ts'
import type { ExecExit, ExecVoice, OutputStream } from './exec-voice.ts'
import { SendWindow } from './send-window.ts'

/** Most bytes of one `exec_output`. */
const PIECE_BYTES = 64 * 1024
/** Output of one command that may be on its way to a client. More is left with the agent, and so with the command. */
const WINDOW_BYTES = 4 * PIECE_BYTES

/** Ended by us. */
export const KILLED: ExecExit = { code: 137, signal: 'KILL' }
/** As programs that limit time say it. */
export const TIMED_OUT: ExecExit = { code: 124 }
/** As a shell says that a program cannot be run. */
const NEVER_RAN: ExecExit = { code: 126 }

/** A command that runs for a client. Its end is told exactly once, and nothing after it. */
export class LiveExec {
  readonly #exec: Exec
  readonly #hold: (bytes: number) => () => void
  readonly #voice: ExecVoice
  readonly #errors: OutputStream
  readonly #active: () => void
  readonly #ended: (how: { isKilled: boolean }) => void
  readonly #window = new SendWindow({ maxBytes: WINDOW_BYTES })
  #hasEnded = false

  constructor(parts: {
    exec: Exec
    /** As of `Peer`: bytes of the client that wait. */
    hold: (bytes: number) => () => void
    voice: ExecVoice
    /** Where its standard error goes. */
    errors: OutputStream
    /** Something came from it or went to it. */
    active: () => void
    /** `isKilled`: by us, and the agent may not have got to it yet. */
    ended: (how: { isKilled: boolean }) => void
  }) {
    this.#exec = parts.exec
    this.#hold = parts.hold
    this.#voice = parts.voice
    this.#errors = parts.errors
    this.#active = parts.active
    this.#ended = parts.ended
  }

  /** Moves what it writes to the client, until it ends. Fails only by a fault of ours; the end is told then, too. */
  async run(): Promise<void> {
    try {
      await Promise.all([this.#pump(this.#exec.stdout, 'stdout'), this.#pump(this.#exec.stderr, this.#errors)])
      const { code, signal } = await this.#exec.exited
      this.#end(signal === null ? { code } : { code, signal: wireSignal(signal) })
    } catch (error) {
      this.#fail(error)
    }
  }

  write(bytes: Uint8Array): void {
    const { stdin } = this.#exec
    if (stdin.writableEnded) throw new FrameError('invalid', 'The input of this command was closed')
    this.#active()
    if (bytes.length > 0) stdin.write(bytes, this.#hold(bytes.length))
  }

  /** No more input; its output goes on. */
  closeInput(): void {
    this.#exec.stdin.end()
  }

  signal(name: string): void {
    this.#exec.signal(name)
  }

  /** Ends the command and everything it has started, at once. Without an exit the client is not told. */
  kill(exit?: ExecExit): void {
    this.#exec.signal('SIGKILL')
    this.#exec.close()
    this.#end(exit, { isKilled: true })
  }

  /** The client is gone: the command is asked to end, and has a moment to tidy up. */
  abandon(): void {
    this.#exec.close()
    this.#end(KILLED)
  }

  async #pump(source: Readable, stream: OutputStream): Promise<void> {
    for await (const bytes of source) {
      for (const piece of cut(bytes)) {
        await this.#window.room()
        if (this.#hasEnded) return
        this.#active()
        this.#voice.output(stream, piece, this.#window.take(piece.length))
      }
    }
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return
    if (error instanceof AgentError) {
      this.#voice.output(this.#errors, Buffer.from(`svc: ${error.message}\n`), () => {})
      this.#end(NEVER_RAN)
    } else {
      this.#exec.close()
      this.#end(KILLED)
      if (!(error instanceof AgentLost)) throw error
    }
  }

  #end(exit: ExecExit | undefined, how = { isKilled: false }): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (exit) this.#voice.exit(exit)
    this.#ended(how)
  }
}

/** The agent keeps to smaller pieces, but nobody can rely on that. */
function* cut(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES)
}
