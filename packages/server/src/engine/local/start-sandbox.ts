import { type ChildProcess, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { Duplex } from 'node:stream'
import type { Clock } from '../../kernel/clock.ts'
import { pause } from '../../kernel/pause.ts'
import { EngineError } from '../container-engine.ts'
import { readLogEnd } from './read-log-end.ts'
import { programEnvironment } from './run-program.ts'
import { readSandboxStatus } from './sandbox-status.ts'
import { sendSignal } from './send-signal.ts'

export interface StartedSandbox {
  readonly child: ChildProcess
  /** Lets the agent begin. Until then, everything in the sandbox ends with the server. */
  proceed(): Promise<void>
  /** Ends all that has not been let begin. */
  abandon(): Promise<void>
}

interface Parts {
  readonly command: { readonly file: string; readonly args: readonly string[] }
  readonly logFile: string
  readonly statusFile: string
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** What a sandbox may take to end by itself, after its script was left alone. */
const END_LIMIT_MS = 5_000

/** Starts a sandbox up to the point where all its namespaces and mounts stand. It outlives the server from `proceed` on. */
export async function startSandbox({ command, logFile, statusFile, signal, clock }: Parts): Promise<StartedSandbox> {
  signal.throwIfAborted()
  await using files = new AsyncDisposableStack()
  const log = files.adopt(await open(logFile, 'a', 0o600), (file) => file.close())
  const status = files.adopt(await open(statusFile, 'w', 0o600), (file) => file.close())
  const child = spawn(command.file, command.args, {
    detached: true, // a session of its own, so that signals for the server's terminal do not reach it
    env: programEnvironment,
    cwd: '/',
    stdio: ['ignore', log.fd, log.fd, status.fd, 'pipe'],
  })
  const line = child.stdio[4]
  if (!(line instanceof Duplex)) throw new Error('a sandbox without a line to its script')
  const ended = new AbortController()
  child.once('exit', () => ended.abort())
  child.once('error', () => ended.abort())
  // Not killed at once: the sandbox would leave a process behind that waits for it for ever. Left alone by us, the
  // script ends, whenever the sandbox gets to it, and the sandbox with it.
  const abandon = async (): Promise<void> => {
    line.destroy()
    await pause(clock, END_LIMIT_MS, ended.signal)
    if (!ended.signal.aborted) await killSandbox(child, statusFile)
  }
  try {
    await nextWord(child, line, signal)
  } catch (cause) {
    await abandon()
    signal.throwIfAborted()
    throw new EngineError('failed', `The workspace could not be started: ${await readLogEnd(logFile)}`, { cause })
  }
  child.unref()
  return {
    child,
    abandon,
    async proceed() {
      const begun = nextWord(child, line, signal)
      line.write('go\n')
      await begun
      line.destroy()
    },
  }
}

async function killSandbox(child: ChildProcess, statusFile: string): Promise<void> {
  const { initPid } = await readSandboxStatus(statusFile)
  if (initPid !== undefined) sendSignal(initPid, 'SIGKILL')
  child.kill('SIGKILL')
}

/** Waits for the script to say something. Rejects when it has ended instead, or when `signal` aborts. */
function nextWord(child: ChildProcess, line: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => settle(signal.reason)
    const onExit = (code: number | null): void => settle(new Error(`ended with ${code ?? 'a signal'}`))
    const onWord = (): void => settle()
    const settle = (error?: unknown): void => {
      signal.removeEventListener('abort', onAbort)
      child.off('exit', onExit)
      line.off('data', onWord)
      if (error === undefined) resolve()
      else reject(error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    child.once('exit', onExit)
    child.once('error', settle)
    // It is of no use any more when the sandbox is gone, which `exit` tells.
    line.on('error', () => undefined)
    line.once('data', onWord)
    if (signal.aborted) onAbort()
  })
}
