import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigError } from '../config/config-error.ts'
import type { Environment } from '../config/environment.ts'
import { type LoadedSettings, loadSettings } from '../config/load-settings.ts'

/** A directory that is gone when the test ends. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'svcd-config-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export function writeTemporary(name: string, content: string, dir = temporaryDir()): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}

/** What a start cannot do without. */
export const required: Environment = { SVCD_STATE_DIR: '/srv/state', SVCD_DATA_DIR: '/srv/data', PATH: '/usr/bin:/bin' }

/** Loads from `env` and, when given, a configuration file with the text `yaml`. */
export function load(env: Environment = {}, yaml?: string): Promise<LoadedSettings> {
  const config = yaml === undefined ? 'none' : writeTemporary('svcd.yaml', yaml)
  return loadSettings({ env: { ...required, ...env }, config })
}

/** The error such a load ends with. */
export async function refusal(env: Environment = {}, yaml?: string): Promise<ConfigError> {
  try {
    await load(env, yaml)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('these settings were accepted')
}
