import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { getSystemErrorMessage } from 'node:util'
import type { Environment } from './environment.ts'
import { expandHome } from './formats.ts'
import { InvalidValue } from './invalid-value.ts'

/** How long a `cmd:` reference may run. A start or a reload waits for it. */
const COMMAND_LIMIT_MS = 10_000

/** No setting is this long: a file that holds more, or a command that prints more, is the wrong one. */
const MAX_BYTES = 1024 * 1024

/** Reads what `file:<path>` or `cmd:<command>` refers to. Refuses with the system's text, never the path or command. */
export type ReferenceReader = (reference: string) => Promise<string>

export function isReference(text: string): boolean {
  return text.startsWith('file:') || text.startsWith('cmd:')
}

export function createReferenceReader(options: {
  /** What commands are run with. */
  readonly env: Environment
  readonly home: string
  readonly commandLimitMs?: number
}): ReferenceReader {
  const { env, home, commandLimitMs = COMMAND_LIMIT_MS } = options
  return async (reference) => {
    const target = reference.slice(reference.indexOf(':') + 1)
    if (target.trim() === '')
      throw new InvalidValue('refers to nothing: write a path after file: or a command after cmd:')
    // The system takes none, and Node's own refusal would print the command.
    if (target.includes('\0')) throw new InvalidValue('must not hold a NUL character')
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
    // Non-blocking, because opening a named pipe would otherwise wait for its writer.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    if (!(await file.stat()).isFile()) throw new InvalidValue('refers to something that is not a regular file')
    // One byte more than allowed, to tell; the size itself is no help, because files of /proc and /sys claim none.
    const content = await buffer(file.createReadStream({ end: MAX_BYTES }))
    if (content.length > MAX_BYTES) throw new InvalidValue('refers to a file of more than 1 MB')
    return content.toString('utf8')
  } catch (error) {
    if (error instanceof InvalidValue) throw error
    throw new InvalidValue(`refers to a file that cannot be read: ${systemErrorText(error)}`)
  }
}

function runCommand(command: string, env: Environment, limitMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = startShell(command, env)
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
    if (bytes > MAX_BYTES) stop('refers to a command that printed more than 1 MB')
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

function startShell(command: string, env: Environment) {
  try {
    // Its own process group, so that stopping it also stops whatever the shell started.
    return spawn('/bin/sh', ['-c', command], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  } catch (error) {
    // Some failures, such as a command that is too long, are thrown and not sent as an event.
    throw new InvalidValue(`refers to a command that cannot be run: ${systemErrorText(error)}`)
  }
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
