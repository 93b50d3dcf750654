import { spawn } from 'node:child_process'
import { existingDirectory, type Variables } from './environment.ts'
import { exitStatus, signalGroup } from './exec/process-group.ts'
import { RequestError } from './request-error.ts'
import { loginShell } from './shells.ts'
import { TextTail } from './text-tail.ts'

/** How much of what a check said is told. */
const TAIL_BYTES = 512
/** A child that lives on may keep the pipes open. */
const QUIET_MS = 200

export interface Checked {
  /** Null when it took too long and was killed. */
  readonly code: number | null
  readonly output: string
}

/** Runs a check of the workspace's service: `bash -c`, with no startup files, so that it is the same each time. */
export function checkHealth(
  command: string,
  { timeoutMs, env }: { timeoutMs: number; env: Variables },
): Promise<Checked> {
  // These name startup files, which a shell that is not interactive would read.
  const { BASH_ENV: _, ENV: __, ...quietEnv } = env
  const cwd = existingDirectory('', env)
  const child = spawn(loginShell(), ['-c', command], {
    cwd,
    env: quietEnv,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = [new TextTail(TAIL_BYTES), new TextTail(TAIL_BYTES)]
  child.stdout.on('data', (chunk) => output.append(chunk))
  child.stderr.on('data', (chunk) => errors.append(chunk))
  return new Promise((resolve, reject) => {
    let code: number | null = null
    const timer = setTimeout(() => {
      // Its status comes later, and is ours, not its own.
      child.removeAllListeners('exit')
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
      finish()
    }, timeoutMs)
    const finish = () => {
      clearTimeout(timer)
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ code, output: errors.isEmpty ? output.text : errors.text })
    }
    child.once('error', (cause) => {
      clearTimeout(timer)
      reject(new RequestError('failed', 'The check could not be started', { cause }))
    })
    child.once('exit', (status, signal) => {
      code = exitStatus(status, signal).code
      // On a busy machine the time may be over while output waits to be read: that comes first.
      setTimeout(() => setImmediate(finish), QUIET_MS)
    })
    child.once('close', finish)
  })
}
