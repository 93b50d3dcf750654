import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Channel } from '@svc/protocol/agent/channels'
import { existingDirectory, type Variables } from '../environment.ts'
import { errnoOf, RequestError } from '../request-error.ts'
import type { RequestFields } from '../request-fields.ts'
import { loginShell } from '../shells.ts'
import { OutputPump } from './output-pump.ts'
import { endGroup, exitStatus, isSignal, signalGroup } from './process-group.ts'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

interface Exit {
  readonly code: number
  readonly signal: string | null
}

/** Runs a command without a terminal; see `ExecRequest`. */
export async function exec(fields: RequestFields, channel: Channel, workspaceEnv: Variables): Promise<void> {
  const argv = fields.words('argv')
  if (argv.length === 0 || argv[0] === '') throw new RequestError('bad_request', 'There is no command to run')
  const env = { ...workspaceEnv, ...fields.variables('env') }
  const cwd = existingDirectory(fields.word('cwd'), env)
  const [file = '', ...args] = fields.flag('login') ? throughLoginShell(argv) : argv
  const exit = await run(channel, () =>
    // A group of its own, so that all its children can be reached.
    spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }),
  ).catch((error: unknown) => neverStarted(channel, file, error))
  channel.message({ type: 'exited', ...exit })
}

function throughLoginShell(argv: readonly string[]): string[] {
  return [loginShell(), '-lc', 'exec "$@"', 'bash', ...argv]
}

async function run(channel: Channel, start: () => Child): Promise<Exit> {
  const child = start()
  const exited = whenExited(child)
  const { pid } = child
  if (pid !== undefined) connectChannel(channel, child, pid)
  const output = new OutputPump(channel, [
    [child.stdout, 'data'],
    [child.stderr, 'errorData'],
  ])
  const exit = await exited
  await output.finish()
  child.stdin.destroy()
  return exit
}

function connectChannel(channel: Channel, child: Child, pid: number): void {
  // A command that does not read its input is no fault; the error of writing to it is told to `write` as well.
  child.stdin.on('error', () => {})
  channel.handlers = {
    data: (bytes) => child.stdin.write(bytes, () => channel.consumed(bytes.length)),
    ended: () => child.stdin.end(),
    message: (message) => {
      const name = signalIn(message)
      if (name) signalGroup(pid, name)
    },
    closed: () => endGroup(pid, 'SIGTERM'),
  }
}

function signalIn(message: unknown): NodeJS.Signals | undefined {
  if (typeof message !== 'object' || message === null || Reflect.get(message, 'type') !== 'signal') return undefined
  const name: unknown = Reflect.get(message, 'signal')
  return typeof name === 'string' && isSignal(name) ? name : undefined
}

function whenExited(child: Child): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(exitStatus(code, signal)))
  })
}

/** As a shell says it: 127 for a program that is not there, 126 for one that cannot be run. */
async function neverStarted(channel: Channel, file: string, error: unknown): Promise<Exit> {
  const [code, why] = NEVER_STARTED[errnoOf(error) ?? ''] ?? [126, 'it could not be started']
  await channel.write(Buffer.from(`svc: ${file}: ${why}\n`), 'errorData')
  return { code, signal: null }
}

const NEVER_STARTED: Readonly<Record<string, readonly [number, string]>> = {
  ENOENT: [127, 'command not found'],
  ENOTDIR: [127, 'command not found'],
  EACCES: [126, 'permission denied'],
  EPERM: [126, 'permission denied'],
  ENOEXEC: [126, 'it is not a program for this machine'],
  E2BIG: [126, 'too many arguments'],
  EAGAIN: [126, 'too many processes are running'],
  ENOMEM: [126, 'there is no memory left'],
}
