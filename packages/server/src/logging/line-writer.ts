import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { errorCode } from '../kernel/error-code.ts'
import type { Destination } from './destination.ts'

/** About 30,000 lines: minutes of a busy server, and harmless to its memory. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024
/** Below this a jam counts as over. Far from the maximum, so that one jam gives one notice. */
const RECOVERED_BYTES = MAX_QUEUED_BYTES / 2
/** What one write takes; larger ones gain nothing. */
const BATCH_BYTES = 256 * 1024
/** After a write, lines gather this long before the next one: a busy server writes now and then, not per request. */
const GATHER_MS = 20
/** How often a reader that does not read is asked again. */
const RETRY_MS = 20
/** An ending process waits 1.5 s in all: a live reader takes a full queue through a 64 KiB pipe in that time. */
const FLUSH_PAUSES = 150
const FLUSH_PAUSE_MS = 10

const NOTHING = new Uint8Array()

interface LineWriterOptions {
  readonly destination: Destination
  readonly clock: Clock
  /** The line that tells how many were dropped. */
  readonly droppedNotice: (count: number) => string
  /** Called when the destination fails; nothing is written then until `replace`. */
  readonly onFailure: (error: unknown) => void
}

/** Hands lines to a destination in order, in batches, outside the caller's time and within bounded memory. */
export class LineWriter {
  readonly #options: LineWriterOptions
  #destination: Destination
  #replacement: Destination | undefined
  #state: 'open' | 'failed' | 'closing' = 'open'
  #queue: string[] = []
  #queuedBytes = 0
  #dropped = 0
  /** What is left of the batch being written, and whether the thread pool has it. */
  #batch: Uint8Array = NOTHING
  #isInPool = false
  #draining: Promise<void> | undefined
  #stopWaiting = (): void => {}

  constructor(options: LineWriterOptions) {
    this.#options = options
    this.#destination = options.destination
  }

  /** Takes one finished line. Never throws, never waits. */
  push(line: string): void {
    if (this.#state !== 'open') return
    const bytes = Buffer.byteLength(line)
    if (this.#dropped > 0 || this.#queuedBytes + bytes > MAX_QUEUED_BYTES) this.#drop()
    else this.#enqueue(line, bytes)
  }

  /** Goes on with another destination after the batch being written; after a failure, starts again. */
  replace(destination: Destination): void {
    this.#replacement?.close()
    this.#replacement = destination
    if (this.#state === 'failed') this.#state = 'open'
    if (!this.#draining) this.#takeReplacement()
  }

  /** Resolves when every line has been written, or the destination has failed. */
  async idle(): Promise<void> {
    while (this.#draining) await this.#draining
  }

  /** Writes what is left and takes no more. Does not wait long for a reader that does not read. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing'
    this.#stopWaiting()
    await this.idle()
    this.flushSync()
    this.#destination.close()
  }

  /**
   * Writes what is left before the process ends. A batch in the thread pool is left to it, because an exit waits for
   * its threads; it may land after the lines written here, each line still in one piece.
   */
  flushSync(): void {
    if (this.#state === 'failed') return
    const rest = Buffer.from(this.#takeAll())
    const bytes = this.#isInPool ? rest : Buffer.concat([this.#batch, rest])
    if (!this.#isInPool) this.#batch = NOTHING
    try {
      writeAll(this.#destination, bytes)
    } catch (error) {
      this.#fail(error)
    }
  }

  #enqueue(line: string, bytes: number): void {
    this.#queue.push(line)
    this.#queuedBytes += bytes
    this.#draining ??= this.#drain()
  }

  /** A line too large by itself is dropped though nothing jams: nobody else would then end the dropping. */
  #drop(): void {
    this.#dropped++
    this.#noticeIfRecovered()
  }

  async #drain(): Promise<void> {
    await setImmediate() // the lines of one turn go out together
    try {
      while (this.#queue.length > 0) {
        this.#takeReplacement()
        await this.#destination.follow?.()
        this.#batch = Buffer.from(this.#takeBatch())
        while (this.#batch.length > 0) {
          if (await this.#writeSome()) continue
          if (this.#state === 'closing') return
          await this.#waitForReader()
        }
        this.#noticeIfRecovered()
        if (this.#queuedBytes < BATCH_BYTES) await this.#gather()
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#draining = undefined
      this.#takeReplacement()
    }
  }

  /** Shortens `#batch` in the same turn as a `writeSync`: `flushSync` may be the next to look at it. */
  async #writeSome(): Promise<boolean> {
    let written = 0
    try {
      if (this.#destination.write) {
        this.#isInPool = true
        written = await this.#destination.write(this.#batch)
      } else {
        written = this.#destination.writeSync(this.#batch)
      }
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error
    } finally {
      this.#isInPool = false
    }
    this.#batch = this.#batch.subarray(written)
    return written > 0
  }

  /** On a real timer, whatever the clock says: a test that stops the time must still see its lines. */
  #gather(): Promise<void> {
    if (this.#state === 'closing') return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      this.#stopWaiting = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #waitForReader(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(RETRY_MS, resolve)
      this.#stopWaiting = () => {
        cancel()
        resolve()
      }
    })
  }

  /** As many whole lines as the destination has room for, and at least one. */
  #takeBatch(): string {
    const first = this.#queue[0]
    if (first === undefined) return '' // flushed while we looked after the destination
    const room = Math.min(this.#destination.room?.(Buffer.byteLength(first)) ?? BATCH_BYTES, BATCH_BYTES)
    let count = 0
    let bytes = 0
    for (const line of this.#queue) {
      const lineBytes = Buffer.byteLength(line)
      if (count > 0 && bytes + lineBytes > room) break
      bytes += lineBytes
      count++
    }
    this.#queuedBytes -= bytes
    return this.#queue.splice(0, count).join('')
  }

  #takeAll(): string {
    const lines = this.#queue.join('') + (this.#dropped > 0 ? this.#options.droppedNotice(this.#dropped) : '')
    this.#forgetQueue()
    return lines
  }

  #noticeIfRecovered(): void {
    if (this.#dropped === 0 || this.#queuedBytes > RECOVERED_BYTES) return
    const notice = this.#options.droppedNotice(this.#dropped)
    this.#dropped = 0
    this.#enqueue(notice, Buffer.byteLength(notice))
  }

  #takeReplacement(): void {
    if (!this.#replacement) return
    this.#destination.close()
    this.#destination = this.#replacement
    this.#replacement = undefined
  }

  #fail(error: unknown): void {
    this.#state = 'failed'
    this.#batch = NOTHING
    this.#forgetQueue()
    this.#options.onFailure(error)
  }

  #forgetQueue(): void {
    this.#queue = []
    this.#queuedBytes = 0
    this.#dropped = 0
  }
}

function writeAll(destination: Destination, bytes: Uint8Array): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  let rest = bytes
  for (let pauses = 0; rest.length > 0 && pauses < FLUSH_PAUSES; ) {
    try {
      rest = rest.subarray(destination.writeSync(rest))
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error
      Atomics.wait(pause, 0, 0, FLUSH_PAUSE_MS)
      pauses++
    }
  }
}
