import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { directoryRows } from './areas/directories.ts'
import { oidcRows } from './areas/oidc.ts'
import { commandEnvironment } from './command-environment.ts'
import { ConfigError, type Problem } from './config-error.ts'
import { type ConfigFile, openConfigFile } from './config-file.ts'
import type { Environment } from './environment.ts'
import { nameWarnings } from './name-warnings.ts'
import { planned } from './planned.ts'
import { readProviderFile } from './provider-file.ts'
import { type Reading, readRow } from './read-row.ts'
import { createReferenceReader } from './references.ts'
import type { ParseContext, Places, Reload } from './row.ts'
import { checkRules } from './rules.ts'
import { type AnyRow, buildSettings, type Settings, settingRows } from './settings.ts'

export interface LoadOptions {
  readonly env: Environment
  /** What `--config` was given: a path that must exist, or `none` for the environment alone. */
  readonly config?: string | undefined
}

/** One setting as it is in effect, safe to print. */
export interface SettingEntry {
  readonly name: string
  /** Secrets are masked. */
  readonly value: string
  readonly source: 'environment' | 'file' | 'default'
  /** Whether the value came through `file:` or `cmd:`. */
  readonly byReference: boolean
  readonly default: string
  readonly reload: Reload
}

export interface LoadedSettings {
  readonly settings: Settings
  readonly entries: readonly SettingEntry[]
  readonly warnings: readonly string[]
}

/** Builds the settings: environment over file over default. Throws `ConfigError` with every problem found. */
export async function loadSettings({ env, config }: LoadOptions): Promise<LoadedSettings> {
  const found: string[] = []
  const home = env.HOME || homedir()
  const context: ParseContext = {
    home,
    baseDir: process.cwd(),
    readReference: createReferenceReader({ env: commandEnvironment(env), home }),
    warn: (text) => found.push(text),
  }

  const configDirReading = await readRow(directoryRows.configDir, { env }, context)
  if (configDirReading.problems.length > 0) throw new ConfigError(configDirReading.problems)
  const configDir = textOf(configDirReading) ?? defaultConfigDir(env, home)
  const file = await openConfigFile(config, configDir)
  const readings = await readAllRows(env, file, context)
  readings.set(directoryRows.configDir, configDirReading)
  const providerFile = textOf(readings.get(oidcRows.configFile))
  if (providerFile !== undefined) readings.set(oidcRows.providers, await readProviderFile(providerFile, context))

  const places: Places = { configDir, stateDir: textOf(readings.get(directoryRows.stateDir)) ?? '', osUser: osUser() }
  const settings = buildSettings((row) => effectiveValue(row, readings.get(row), places))
  const problems = [...file.problems, ...[...readings.values()].flatMap((reading) => reading.problems)]
  // A file that could not be read may hold what seems to be missing, so nothing more is concluded then.
  if (file.usable) {
    problems.push(...missingRows(readings))
    const broken = new Set(problems.map(({ setting }) => setting))
    const findings = checkRules(settings, {
      isSet: (name) => [...readings.values()].some(({ row, source }) => row.name === name && source !== 'default'),
      isUsable: (name) => !broken.has(name),
    })
    problems.push(...findings.problems)
    found.push(...findings.warnings)
  }
  const warnings = [...file.warnings, ...nameWarnings(env, file.unknownKeys), ...plannedWarning(readings), ...found]
  if (problems.length > 0) throw new ConfigError(problems, warnings)

  return {
    settings,
    entries: settingRows.map(({ row }) => entryOf(row, readings.get(row), places)),
    warnings,
  }
}

/** All but the configuration directory, which the file depends on. Together, as a `cmd:` reference may take seconds. */
async function readAllRows(env: Environment, file: ConfigFile, context: ParseContext): Promise<Map<AnyRow, Reading>> {
  const fileContext = file.path === undefined ? context : { ...context, baseDir: dirname(file.path) }
  const rows = settingRows.map(({ row }) => row).filter((row) => row !== directoryRows.configDir)
  const readings = await Promise.all(rows.map((row) => readRow(row, { env, file }, fileContext)))
  return new Map(readings.map((reading) => [reading.row, reading]))
}

function missingRows(readings: ReadonlyMap<AnyRow, Reading>): readonly Problem[] {
  return [...readings.values()]
    .filter(({ row, source }) => row.required && source === 'default')
    .map(({ row }) => ({ setting: row.name, message: `must be set. ${row.doc}` }))
}

function plannedWarning(readings: ReadonlyMap<AnyRow, Reading>): readonly string[] {
  const names = [...readings.values()]
    .filter(({ row, source }) => planned.has(row.name) && source !== 'default')
    .map(({ row }) => row.name)
  return names.length > 0 ? [`Settings accepted, but not in effect in this version: ${names.join(', ')}`] : []
}

function effectiveValue(row: AnyRow, reading: Reading | undefined, places: Places): unknown {
  return reading === undefined || reading.source === 'default' ? row.defaultValue(places) : reading.value
}

function entryOf(row: AnyRow, reading: Reading | undefined, places: Places): SettingEntry {
  const source = reading?.source ?? 'default'
  const value = effectiveValue(row, reading, places)
  const unsetText = source === 'default' ? 'unset' : (row.emptyMeans ?? 'unset')
  return {
    name: row.name,
    value: value === undefined ? unsetText : row.print(value),
    source,
    byReference: reading?.byReference ?? false,
    default: row.defaultText,
    reload: row.reload,
  }
}

function textOf(reading: Reading | undefined): string | undefined {
  return typeof reading?.value === 'string' ? reading.value : undefined
}

function defaultConfigDir(env: Environment, home: string): string {
  const xdg = env.XDG_CONFIG_HOME
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.config'), 'svcd')
}

/** The account we run as, where it has a name that fits an email address. */
function osUser(): string {
  try {
    const { username } = userInfo()
    return /^[\w.-]+$/.test(username) ? username : 'user'
  } catch {
    // In a container the user id often has no account.
    return 'user'
  }
}
