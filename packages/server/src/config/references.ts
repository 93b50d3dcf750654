import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { getSystemErrorMessage } from 'node:util'
import type { Environment } from './environment.ts'
import { expandHome } from './formats.ts'
import { InvalidValue } from './invalid-value.ts'

/** How long a `cmd:` reference may run. A start or a reload waits for it. */
const COMMAND_LIMIT_MS = 10_000

/** No setting is this long: a command that prints more is the wrong command. */
const COMMAND_OUTPUT_BYTES = 1024 * 1024

/** Reads what `file:<path>` or `cmd:<command>` refers to. Refuses with the system's text, never the path or command. */
export type ReferenceReader = (reference: string) => Promise<string>

export function isReference(text: string): boolean {
  return text.startsWith('file:') || text.startsWith('cmd:')
}

export function createReferenceReader(options: {
  readonly env: Environment
  readonly home: string
  readonly commandLimitMs?: number
}): ReferenceReader {
  const { env, home, commandLimitMs = COMMAND_LIMIT_MS } = options
  return async (reference) => {
    const target = reference.slice(reference.indexOf(':') + 1)
    if (target.trim() === '')
      throw new InvalidValue('refers to nothing: write a path after file: or a command after cmd:')
    const value = reference.startsWith('file:')
      ? await readReferencedFile(expandHome(target, home))
      : await runCommand(target, env, commandLimitMs)
    // An empty secret file is a mistake; taking it as "not set" would quietly weaken the server.
    if (value.trim() === '') throw new InvalidValue('refers to something empty')
    return value.trim()
  }
}

async function readReferencedFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new InvalidValue(`refers to a file that cannot be read: ${systemErrorText(error)}`)
  }
}

function runCommand(command: string, env: Environment, limitMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // Its own process group, so that stopping it also stops whatever the shell started.
  const child = spawn('/bin/sh', ['-c', command], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const chunks: Buffer[] = []
  let bytes = 0

  const stop = (reason: string) => {
    reject(new InvalidValue(reason))
    killGroup(child.pid)
    child.stdout.destroy()
  }
  const seconds = limitMs / 1000
  const timer = setTimeout(() => stop(`refers to a command that did not finish within ${seconds} seconds`), limitMs)

  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > COMMAND_OUTPUT_BYTES) stop('refers to a command that printed more than 1 MB')
  })
  child.on('error', (error) => {
    clearTimeout(timer)
    reject(new InvalidValue(`refers to a command that cannot be run: ${systemErrorText(error)}`))
  })
  child.on('close', (status, signal) => {
    clearTimeout(timer)
    if (status === 0) resolve(Buffer.concat(chunks).toString('utf8'))
    else reject(new InvalidValue(`refers to a command that failed with ${signal ?? `exit status ${status}`}`))
  })
  return promise
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The whole group has already ended, which is what we wanted.
  }
}

/** The operating system's words for a failed call. Node's own message would add the path. */
export function systemErrorText(error: unknown): string {
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    return getSystemErrorMessage(error.errno) ?? 'unknown system error'
  }
  return 'unknown error'
}
