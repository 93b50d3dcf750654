import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket, type SocketConstructorOpts } from 'node:net'
import { fileURLToPath } from 'node:url'
import { RequestError } from '../request-error.ts'

/** The native part of `@lydell/node-pty`. */
export interface NativePty {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    exited: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number }
  resize(fd: number, cols: number, rows: number): void
}

const require = createRequire(import.meta.url)

/**
 * We use the native part alone. The package's own stream loses output when a terminal is read slowly: it is torn down
 * 200 ms after the shell ended, whether all was read or not. And it lies on libuv's handle for terminals, whose writes
 * spin while a terminal takes no input (`streamOver`). Throws `RequestError` when there is no such part to be had.
 */
export function loadNativePty(): NativePty {
  try {
    const beside = fileURLToPath(new URL('pty.node', import.meta.url))
    const loaded: unknown = require(existsSync(beside) ? beside : `@lydell/node-pty-linux-${process.arch}/pty.node`)
    if (isNativePty(loaded)) return loaded
    throw new Error('The native part of the terminals is not what it should be')
  } catch (cause) {
    throw new RequestError('failed', 'Terminals cannot be opened in this workspace: a part of the agent is missing', {
      cause,
    })
  }
}

function isNativePty(value: unknown): value is NativePty {
  return typeof value === 'object' && value !== null && 'fork' in value && 'resize' in value
}

interface PipeBinding {
  Pipe: new (type: number) => { open(fd: number): number }
  constants: { SOCKET: number }
}

/**
 * A stream over the terminal's end that we hold. A pipe's handle, because that waits for the terminal to take input;
 * the handle for terminals would block the whole agent until it does, and both would wait for each other for ever when
 * a program does not read because we do not read it.
 */
export function streamOver(fd: number, onread: NonNullable<SocketConstructorOpts['onread']>): Socket {
  const { Pipe, constants } = pipeBinding()
  const handle = new Pipe(constants.SOCKET)
  const failure = handle.open(fd)
  if (failure) throw new Error(`The terminal cannot be read (${failure})`)
  const options: SocketConstructorOpts = { onread, readable: true, writable: true }
  return new Socket(Object.assign(options, { handle, manualStart: true }))
}

function pipeBinding(): PipeBinding {
  const binding: unknown = Reflect.get(process, 'binding')
  if (typeof binding !== 'function') throw new Error('This Node has no pipes that we can use')
  return binding.call(process, 'pipe_wrap')
}
