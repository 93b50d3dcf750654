import type { Logger } from '../kernel/logger.ts'
import { ConfigError } from './config-error.ts'
import type { LoadedSettings } from './load-settings.ts'
import { checkRules } from './rules.ts'
import { sameValue } from './same-value.ts'
import { type AnyRow, buildSettings, type Settings, settingRows } from './settings.ts'

export interface ReloadResult {
  /** Settings that have a new value now. */
  readonly changed: readonly string[]
  /** Settings whose new value waits for a restart. */
  readonly needsRestart: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Told after every reload that succeeded, with the names of what changed, which may be none: the operator also
 * reloads to have a log file opened again.
 */
export type ChangeListener = (settings: Settings, changed: readonly string[]) => void

/** Holds the settings in effect. Read them through `current` at each use, so that a reload reaches everything. */
export class SettingsHolder {
  readonly #load: () => Promise<LoadedSettings>
  readonly #logger: Logger
  readonly #listeners = new Set<ChangeListener>()
  readonly #checks = new Set<(settings: Settings) => Promise<void>>()
  #settings: Settings
  #lastReload: Promise<unknown> = Promise.resolve()

  constructor(deps: { loaded: LoadedSettings; load: () => Promise<LoadedSettings>; logger: Logger }) {
    this.#settings = deps.loaded.settings
    this.#load = deps.load
    this.#logger = deps.logger
  }

  current(): Settings {
    return this.#settings
  }

  /** The answer ends the subscription. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Asked before a reload takes effect; what it throws refuses the reload. For rules that need more than the settings. */
  addCheck(check: (settings: Settings) => Promise<void>): void {
    this.#checks.add(check)
  }

  /** Reads the same sources again. Throws, and changes nothing, when they are not valid. One at a time. */
  reload(): Promise<ReloadResult> {
    const next = this.#lastReload.then(() => this.#reload())
    this.#lastReload = next.catch(() => undefined)
    return next
  }

  async #reload(): Promise<ReloadResult> {
    const loaded = await this.#load()
    const different = differences(this.#settings, loaded.settings)
    const waiting = new Set(different.filter((row) => row.reload === 'restart'))
    const changed = different.filter((row) => !waiting.has(row)).map((row) => row.name)
    const running = valuesByRow(this.#settings)
    const wanted = valuesByRow(loaded.settings)
    const settings = buildSettings((row) => (waiting.has(row) ? running : wanted).get(row))
    refuseUnsafeMixture(settings, loaded)
    for (const check of this.#checks) await check(settings)

    this.#settings = settings
    this.#announce(changed)
    return { changed, needsRestart: [...waiting].map((row) => row.name), warnings: loaded.warnings }
  }

  #announce(changed: readonly string[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(this.#settings, changed)
      } catch (error) {
        // The settings are in effect already: one part that cannot follow must not keep the others from doing so.
        this.#logger.error('A part of the server did not take the new settings', { error })
      }
    }
  }
}

function valuesByRow(settings: Settings): ReadonlyMap<AnyRow, unknown> {
  const byArea = new Map<string, Readonly<Record<string, unknown>>>(Object.entries(settings))
  return new Map(settingRows.map(({ area, key, row }) => [row, byArea.get(area)?.[key]]))
}

function differences(before: Settings, after: Settings): readonly AnyRow[] {
  const old = valuesByRow(before)
  return [...valuesByRow(after)].filter(([row, value]) => !sameValue(old.get(row), value)).map(([row]) => row)
}

/**
 * New values beside old ones that wait for a restart may break a rule that each set keeps by itself:
 * sign-in switched off by the reload while the listener still has its public address.
 */
function refuseUnsafeMixture(settings: Settings, { entries }: LoadedSettings): void {
  const set = new Set(entries.filter(({ source }) => source !== 'default').map(({ name }) => name))
  const { problems } = checkRules(settings, { isSet: (name) => set.has(name), isUsable: () => true })
  if (problems.length === 0) return
  throw new ConfigError(
    problems.map((problem) => ({ ...problem, message: `${problem.message} (restart to apply this change)` })),
  )
}
