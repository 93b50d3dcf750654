import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { rawRequest } from './start-http.ts'

const SVCD = join(import.meta.dirname, '../../../../bin/svcd')

/** A folder that is gone after the test. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The least environment in which the daemon starts, with all of its files in `folder`. */
export function daemonEnv(folder: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    SVCD_STATE_DIR: join(folder, 'state'),
    SVCD_DATA_DIR: join(folder, 'data'),
    SVCD_CONFIG_DIR: join(folder, 'config'),
  }
}

/** The real daemon as its own process, killed after the test if it is still there. */
export class DaemonProcess {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly #exited: Promise<number | string>

  constructor(env: Record<string, string | undefined>, args: readonly string[] = []) {
    this.child = spawn(SVCD, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk
    })
    this.#exited = once(this.child, 'close').then(([code, signal]) => code ?? signal)
    onTestFinished(async () => {
      this.child.kill('SIGKILL')
      await this.#exited
    })
  }

  /** Its exit code, or the signal that ended it. */
  exit(): Promise<number | string> {
    return this.#exited
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }
}

/** A daemon that listens. Fails with what it wrote when it does not come up. */
export async function startDaemon(folder: string, env: Record<string, string> = {}) {
  const port = Number(env.SVCD_PORT ?? (await freePort()))
  const daemon = new DaemonProcess({ ...daemonEnv(folder), SVCD_PORT: String(port), ...env })
  const ready = new Promise<void>((resolve) => {
    daemon.child.stdout?.on('data', () => {
      if (daemon.stdout.includes('svcd is ready')) resolve()
    })
  })
  const ended = daemon.exit().then((code) => {
    throw new Error(`svcd ended with ${code} before it was ready:\n${daemon.stderr}`)
  })
  await Promise.race([ready, ended])
  ended.catch(() => undefined)
  const request = (method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}) =>
    rawRequest({ port, method, path, ...options })
  return { daemon, port, url: `http://127.0.0.1:${port}`, request }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
