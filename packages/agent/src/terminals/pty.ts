import type { Socket } from 'node:net'
import { constants } from 'node:os'
import type { Variables } from '../environment.ts'
import { loadNativePty, type NativePty, streamOver } from './native-pty.ts'

/** What a terminal reads at once; the system gives no more. */
const READ_BYTES = 64 * 1024
/** After the shell ended: how long nothing may come before we take it that there is no more. */
const QUIET_MS = 100
/** And how much may come: more than a terminal can hold, so it is from a program that lives on. */
const MAX_LATE_BYTES = 256 * 1024

export interface PtyOptions {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Variables
  readonly cwd: string
  readonly cols: number
  readonly rows: number
  /** The bytes are good only during the call. */
  data(bytes: Uint8Array): void
  /** Once, after the last byte. */
  ended(exit: { readonly code: number; readonly signal: string | null }): void
}

/** A program in a terminal of its own: bytes out, bytes in, none lost. */
export class Pty {
  readonly pid: number
  readonly #native: NativePty
  readonly #fd: number
  readonly #options: PtyOptions
  readonly #stream: Socket
  #exit: { code: number; signal: string | null } | undefined
  #isPaused = false
  #isClosed = false
  #lateBytes = 0
  #quiet: NodeJS.Timeout | undefined

  constructor(options: PtyOptions) {
    const { file, args, env, cwd, cols, rows } = options
    this.#options = options
    this.#native = loadNativePty()
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const asWeAre = -1
    const exited = (code: number, signal: number) => this.#exited(code, signal)
    const fork = this.#native.fork(file, args, variables, cwd, cols, rows, asWeAre, asWeAre, true, '', exited)
    this.pid = fork.pid
    this.#fd = fork.fd
    this.#stream = streamOver(fork.fd, {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (size, buffer) => {
        this.#took(buffer.subarray(0, size))
        return true
      },
    })
    // The end of a terminal is an error to the system: nobody has its other end open any more. `close` follows.
    this.#stream.on('error', () => {})
    this.#stream.on('close', () => this.#closed())
    this.#stream.resume()
  }

  /** Resolves when the terminal has taken all of it, or is gone. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stream.destroyed) resolve()
      else this.#stream.write(bytes, () => resolve())
    })
  }

  pause(): void {
    if (this.#isPaused || this.#isClosed) return
    this.#isPaused = true
    this.#stopWatching()
    this.#stream.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return
    this.#isPaused = false
    this.#stream.resume()
    this.#watchForQuiet()
  }

  resize(cols: number, rows: number): void {
    // Long before `close` comes, the number may be that of another file.
    if (!this.#stream.destroyed) this.#native.resize(this.#fd, cols, rows)
  }

  /** Gives up the terminal: what is left in it is told by the system that the window was closed. */
  close(): void {
    this.#stream.destroy()
  }

  #took(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#options.data(bytes)
    if (!this.#exit) return
    this.#lateBytes += bytes.length
    if (this.#lateBytes > MAX_LATE_BYTES) this.close()
    else this.#watchForQuiet()
  }

  #exited(code: number, signal: number): void {
    this.#exit = signal === 0 ? { code, signal: null } : { code: 128 + signal, signal: signalName(signal) }
    if (this.#isClosed) this.#options.ended(this.#exit)
    else this.#watchForQuiet()
  }

  #closed(): void {
    this.#isClosed = true
    this.#stopWatching()
    if (this.#exit) this.#options.ended(this.#exit)
  }

  /** A program that lives on may keep the terminal open for ever after its shell. */
  #watchForQuiet(): void {
    this.#stopWatching()
    if (!this.#exit || this.#isPaused) return
    // On a busy machine the time may be over while output waits to be read: that comes first.
    const timer = setTimeout(() => setImmediate(() => this.#quiet === timer && this.close()), QUIET_MS)
    this.#quiet = timer
  }

  #stopWatching(): void {
    clearTimeout(this.#quiet)
    this.#quiet = undefined
  }
}

function signalName(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `SIG${signal}`
}
