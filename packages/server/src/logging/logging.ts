import { isatty } from 'node:tty'
import type { Clock } from '../kernel/clock.ts'
import { type LogFields, type Logger, type LogLevel, logLevels } from '../kernel/logger.ts'
import { consoleDestination } from './console-destination.ts'
import type { Destination } from './destination.ts'
import { jsonFormat } from './json-format.ts'
import { LineWriter } from './line-writer.ts'
import { LogFile, type LogFileSettings } from './log-file.ts'
import type { LineFormat, LogRecord, Scrub } from './log-record.ts'
import { type LogOutput, NamedLogger } from './named-logger.ts'
import { secretScrubber } from './secret-scrubber.ts'
import { textFormat } from './text-format.ts'

const STDERR = 2
const ROOT_NAME = 'svcd'
const OWN_NAME = 'svcd.logging'

/** Everything a reload may change. */
export interface LogSettings {
  /** The least level written. */
  readonly level: LogLevel
  /** Of the console. The file is always JSON. */
  readonly format: 'text' | 'json'
  readonly file?: LogFileSettings | undefined
  readonly host: string
  readonly instance: string
}

export interface LoggingOptions extends LogSettings {
  readonly clock: Clock
  /** Values that must never be written, such as the keys and passwords in the settings. Asked for every line. */
  readonly secrets: () => readonly string[]
  /** Stderr, unless a test says otherwise. */
  readonly consoleFd?: number
}

/** One place where lines go, and how they look there. */
interface Sink {
  readonly writer: LineWriter
  format: LineFormat
}

/** The log of one service: its loggers, and the console and file they write to. */
export class Logging {
  readonly root: Logger
  readonly #clock: Clock
  readonly #scrub: Scrub
  readonly #consoleFd: number
  readonly #output: LogOutput
  readonly #console: Sink
  #file: Sink | undefined
  #closed: Promise<void> | undefined
  #stamp = { ms: Number.NaN, text: '' }

  /** Throws `LogFileError` when the file cannot be written. */
  constructor(options: LoggingOptions) {
    this.#clock = options.clock
    this.#scrub = secretScrubber(options.secrets)
    this.#consoleFd = options.consoleFd ?? STDERR
    this.#output = { threshold: logLevels[options.level], write: this.#write.bind(this) }
    this.root = new NamedLogger(this.#output, ROOT_NAME)
    const json = jsonFormat(options, this.#scrub)
    if (options.file) this.#file = this.#openSink('SVCD_LOG_FILE', new LogFile(options.file, this.#clock), json)
    this.#console = this.#openSink(
      'the console',
      consoleDestination(this.#consoleFd),
      this.#consoleFormat(options, json),
    )
  }

  /** Applies new settings, the level first. A file that cannot be opened is a warning on the console, not an error. */
  reconfigure(settings: LogSettings): void {
    this.#output.threshold = logLevels[settings.level]
    const json = jsonFormat(settings, this.#scrub)
    this.#console.format = this.#consoleFormat(settings, json)
    this.#console.writer.replace(consoleDestination(this.#consoleFd))
    this.#reopenFile(settings.file, json)
  }

  /** For an exit or an uncaught fault: writes what is left before it returns, waiting 1.5 seconds at most for a reader. */
  flushSync(): void {
    this.#file?.writer.flushSync() // first: a file that fails now is told on the console
    this.#console.writer.flushSync()
  }

  /** Writes what is left and closes. Later lines are ignored. */
  async close(): Promise<void> {
    this.#closed ??= this.#closeSinks()
    await this.#closed
  }

  /** The file first: when it fails while it is closed, the console can still tell. */
  async #closeSinks(): Promise<void> {
    await this.#file?.writer.close()
    await this.#console.writer.close()
  }

  #reopenFile(settings: LogFileSettings | undefined, json: LineFormat): void {
    const previous = this.#file
    this.#file = undefined
    try {
      if (settings) this.#file = this.#continueIn(new LogFile(settings, this.#clock), previous, json)
    } catch (error) {
      this.#warn(this.#console, 'The log file is left out until the next reload', { error })
    }
    if (this.#file !== previous) void previous?.writer.close()
  }

  #continueIn(destination: Destination, previous: Sink | undefined, json: LineFormat): Sink {
    if (!previous) return this.#openSink('SVCD_LOG_FILE', destination, json)
    previous.format = json
    previous.writer.replace(destination)
    return previous
  }

  #openSink(title: string, destination: Destination, format: LineFormat): Sink {
    const sink: Sink = {
      format,
      writer: new LineWriter({
        destination,
        clock: this.#clock,
        droppedNotice: (count) =>
          this.#format(
            sink,
            this.#ownWarning(`${title} was too slow: ${count} lines were dropped`, { dropped: count }),
          ),
        onFailure: (error) => {
          const other = sink === this.#console ? this.#file : this.#console
          this.#warn(other, `${title} failed and is left out until the next reload`, { error })
        },
      }),
    }
    return sink
  }

  #consoleFormat(settings: LogSettings, json: LineFormat): LineFormat {
    return settings.format === 'json' ? json : textFormat({ coloured: isatty(this.#consoleFd) }, this.#scrub)
  }

  #write(level: LogLevel, logger: string, message: string, fields: LogFields): void {
    const record: LogRecord = { timestamp: this.#timestamp(), level, logger, message, fields }
    const line = this.#format(this.#console, record)
    this.#console.writer.push(line)
    const file = this.#file
    file?.writer.push(file.format === this.#console.format ? line : this.#format(file, record))
  }

  /** About the log itself, so it goes out whatever the level. */
  #warn(sink: Sink | undefined, message: string, fields: LogFields): void {
    sink?.writer.push(this.#format(sink, this.#ownWarning(message, fields)))
  }

  #ownWarning(message: string, fields: LogFields): LogRecord {
    return { timestamp: this.#timestamp(), level: 'WARNING', logger: OWN_NAME, message, fields }
  }

  /** Values are read with care, but the fields object itself may be a trap: a getter on it, or a proxy. */
  #format(sink: Sink, record: LogRecord): string {
    try {
      return sink.format(record)
    } catch {
      return sink.format({ ...record, fields: { fields: '[unreadable]' } })
    }
  }

  /** Made once a millisecond: a busy server writes many lines in one. */
  #timestamp(): string {
    const nowMs = this.#clock.nowMs()
    if (nowMs !== this.#stamp.ms) this.#stamp = { ms: nowMs, text: new Date(nowMs).toISOString() }
    return this.#stamp.text
  }
}
