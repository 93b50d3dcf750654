import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { pause } from '../../kernel/pause.ts'
import { EngineError } from '../container-engine.ts'
import { socketAnswers } from './socket-answers.ts'

/**
 * It ends by itself when nobody was connected for this long. We always are, through the event stream: so only a
 * service whose server was killed ends, and none is left behind for ever.
 */
const IDLE_SECONDS = 60
const START_TIMEOUT_MS = 15_000
const POLL_MS = 10
const FIRST_RESTART_MS = 100
const SLOWEST_RESTART_MS = 10_000
/** One that ran this long was not broken from the start. */
const STEADY_MS = 30_000
const END_TIMEOUT_MS = 5_000

interface ServiceParts {
  readonly binary: string
  /** For us alone: the socket gives root. */
  readonly folder: string
  /** Undefined for Podman's own choice. */
  readonly runtime: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

/** Podman's API service as a child of ours. It is started again when it dies; containers do not notice. */
export class PodmanService {
  readonly socketPath: string
  readonly #parts: ServiceParts
  readonly #ending = new AbortController()
  #child: ChildProcess | undefined
  #restartMs = FIRST_RESTART_MS
  #cancelRestart: (() => void) | undefined

  private constructor(parts: ServiceParts) {
    this.#parts = parts
    this.socketPath = join(parts.folder, `podman-${process.pid}.sock`)
  }

  /** Throws an `EngineError` that says why when it cannot be started here. */
  static async start(parts: ServiceParts): Promise<PodmanService> {
    const service = new PodmanService(parts)
    await service.#clearFolder()
    try {
      const { died } = await service.#spawn()
      await service.#ready(died)
      return service
    } catch (cause) {
      const words = await service.#lastWords()
      await service.stop()
      const why = words || (cause instanceof Error ? cause.message : String(cause))
      throw new EngineError('unavailable', `${parts.binary} cannot serve its API: ${why}`, { cause })
    }
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#cancelRestart?.()
    const child = this.#child
    if (child && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      child.kill('SIGTERM')
      const cancel = this.#parts.clock.after(END_TIMEOUT_MS, () => child.kill('SIGKILL'))
      await exited
      cancel()
    }
    await rm(this.#parts.folder, { recursive: true, force: true })
  }

  /** For tests, and for people who look. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  get #logPath(): string {
    return join(this.#parts.folder, 'podman-service.log')
  }

  /** Sockets of earlier servers: their services end by themselves. */
  async #clearFolder(): Promise<void> {
    const { folder } = this.#parts
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const left = (await readdir(folder)).filter((name) => /^podman-\d+\.sock$/.test(name))
    for (const name of left) await rm(join(folder, name), { force: true })
  }

  /** Answers what resolves when it has died again. */
  async #spawn(): Promise<{ died: Promise<void> }> {
    const { binary, runtime, environment, clock } = this.#parts
    const args = [
      ...(runtime === undefined ? [] : ['--runtime', runtime]),
      ...['system', 'service', `--time=${IDLE_SECONDS}`, `unix://${this.socketPath}`],
    ]
    // A file and no pipe: it may outlive us, and a write to a broken pipe would end it.
    const output = await open(this.#logPath, 'w', 0o600)
    const { LD_LIBRARY_PATH: _, ...env } = environment
    const startedMs = clock.nowMs()
    try {
      this.#ending.signal.throwIfAborted() // a stop may have come while the file was opened
      const child = spawn(binary, args, {
        detached: true,
        // Containers' monitors leave files where they were started.
        cwd: dirname(this.socketPath),
        env,
        stdio: ['ignore', output.fd, output.fd],
      })
      this.#child = child
      return await new Promise((resolve, reject) => {
        const died = new Promise<void>((told) => child.once('exit', () => told()))
        child.once('error', reject)
        child.once('spawn', () => {
          void died.then(() => this.#restart(clock.nowMs() - startedMs))
          resolve({ died })
        })
      })
    } finally {
      await output.close()
    }
  }

  #restart(ranMs: number): void {
    const { clock, log } = this.#parts
    if (this.#ending.signal.aborted) return
    this.#restartMs = ranMs >= STEADY_MS ? FIRST_RESTART_MS : Math.min(this.#restartMs * 2, SLOWEST_RESTART_MS)
    log.warning('the Podman service ended; starting it again', { delay_ms: this.#restartMs })
    this.#cancelRestart = clock.after(this.#restartMs, () => {
      this.#spawn().catch((error: unknown) => {
        if (this.#ending.signal.aborted) return
        log.error('the Podman service cannot be started', { error })
        this.#restart(0)
      })
    })
  }

  async #ready(died: Promise<void>): Promise<void> {
    const { clock } = this.#parts
    const giveUpAtMs = clock.nowMs() + START_TIMEOUT_MS
    const end = new AbortController()
    void died.then(() => end.abort())
    while (!(await socketAnswers(this.socketPath))) {
      if (end.signal.aborted) throw new Error('it ended at once')
      if (clock.nowMs() > giveUpAtMs) throw new Error('it does not answer')
      await pause(clock, POLL_MS, end.signal)
    }
  }

  async #lastWords(): Promise<string> {
    const text = await readFile(this.#logPath, 'utf8').catch(() => '')
    return text.trim().split('\n').slice(-3).join(' ')
  }
}
