import type { Environment } from './environment.ts'
import { FEATURE_PREFIX } from './feature-value.ts'
import { settingRows } from './settings.ts'

const secretVariables = new Set(settingRows.flatMap(({ row }) => (row.secret && row.env !== undefined ? row.env : [])))

/** What a `cmd:` reference is run with: our own variables, without those that hold a secret or may hold one. */
export function commandEnvironment(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !secretVariables.has(name) && !name.startsWith(FEATURE_PREFIX)),
  )
}
