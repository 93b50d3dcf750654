import type { HealthDetail, ResourceState } from '@svc/protocol/instance'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { isoTime } from '../../kernel/wire-time.ts'
import { cpuPressurePercent, filesystemUsage, memoryUsagePercent } from './measure.ts'
import { nextState, type Thresholds } from './resource-state.ts'

export interface WatchdogSettings {
  readonly enabled: boolean
  readonly pollIntervalSeconds: number
  readonly paths: readonly string[]
  readonly disk: Thresholds
  readonly memory: Thresholds & { readonly enabled: boolean }
  readonly cpu: Thresholds & { readonly enabled: boolean }
}

/** What can be measured. Tests put their own numbers here, because a test machine cannot be filled up. */
export interface Measurements {
  filesystem(path: string): Promise<{ device: number; usagePercent: number }>
  memoryPercent(): Promise<number | undefined>
  cpuPercent(): Promise<number | undefined>
}

const realMeasurements: Measurements = {
  filesystem: filesystemUsage,
  memoryPercent: memoryUsagePercent,
  cpuPercent: cpuPressurePercent,
}

type Reading = Omit<HealthDetail, 'audit'>

/** Looks at disks, memory and processors from time to time, and remembers how they stand. */
export class Watchdog {
  readonly #settings: () => WatchdogSettings
  readonly #clock: Clock
  readonly #log: Logger
  readonly #measure: Measurements
  readonly #states = new Map<string, ResourceState>()
  readonly #unmeasurable = new Set<string>()
  #latest: Reading | undefined
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(parts: { settings: () => WatchdogSettings; clock: Clock; log: Logger; measure?: Measurements }) {
    this.#settings = parts.settings
    this.#clock = parts.clock
    this.#log = parts.log
    this.#measure = parts.measure ?? realMeasurements
  }

  /** The latest reading; undefined while the watchdog is off. */
  get latest(): Reading | undefined {
    return this.#settings().enabled ? this.#latest : undefined
  }

  /** Measures now and then again after each interval, until `stop`. */
  async start(): Promise<void> {
    await this.poll()
    if (this.#stopped) return
    this.#cancel = this.#clock.after(this.#settings().pollIntervalSeconds * 1000, () => void this.start())
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  async poll(): Promise<void> {
    const settings = this.#settings()
    if (!settings.enabled) return
    const seen = new Set<string>()
    const judge = (key: string, percent: number, thresholds: Thresholds): ResourceState => {
      seen.add(key)
      return this.#judge(key, percent, thresholds)
    }
    const filesystems = (await this.#filesystems(settings.paths)).map(({ path, usagePercent }) => ({
      path,
      usage_percent: rounded(usagePercent),
      state: judge(`disk ${path}`, usagePercent, settings.disk),
    }))
    const memory = settings.memory.enabled ? await this.#try('memory', this.#measure.memoryPercent) : undefined
    const cpu = settings.cpu.enabled ? await this.#try('cpu', this.#measure.cpuPercent) : undefined
    this.#latest = {
      filesystems,
      memory:
        memory === undefined
          ? null
          : { usage_percent: rounded(memory), state: judge('memory', memory, settings.memory) },
      cpu: cpu === undefined ? null : { psi_avg60_percent: rounded(cpu), state: judge('cpu', cpu, settings.cpu) },
      last_poll: isoTime(this.#clock.nowMs() / 1000),
    }
    // A path that is no longer watched must not keep its last state, or health would stay degraded for ever.
    for (const key of this.#states.keys()) if (!seen.has(key)) this.#states.delete(key)
  }

  /** One entry a device: two folders on one disk are one disk. */
  async #filesystems(paths: readonly string[]): Promise<{ path: string; usagePercent: number }[]> {
    const byDevice = new Map<number, { path: string; usagePercent: number }>()
    for (const path of paths) {
      const reading = await this.#try(`disk ${path}`, () => this.#measure.filesystem(path))
      if (reading && !byDevice.has(reading.device)) {
        byDevice.set(reading.device, { path, usagePercent: reading.usagePercent })
      }
    }
    return [...byDevice.values()]
  }

  /** A thing that cannot be measured is left out, and said once. */
  async #try<T>(what: string, measure: () => Promise<T | undefined>): Promise<T | undefined> {
    let value: T | undefined
    let failure: unknown
    try {
      value = await measure()
    } catch (error) {
      failure = error
    }
    if (value !== undefined) this.#unmeasurable.delete(what)
    else if (!this.#unmeasurable.has(what)) {
      this.#unmeasurable.add(what)
      this.#log.warning(`cannot measure ${what}; it is not watched`, { error: failure })
    }
    return value
  }

  #judge(key: string, percent: number, thresholds: Thresholds): ResourceState {
    const before = this.#states.get(key) ?? 'ok'
    const state = nextState(before, percent, thresholds)
    this.#states.set(key, state)
    if (state !== before) {
      const write = state === 'ok' ? this.#log.info : this.#log.warning
      write.call(this.#log, `${key} went from ${before} to ${state}`, { percent: rounded(percent) })
    }
    return state
  }
}

const rounded = (percent: number): number => Math.round(percent * 10) / 10
