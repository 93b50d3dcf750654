import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorCode } from '../kernel/error-code.ts'
import type { Problem } from './config-error.ts'
import { isRecord } from './formats.ts'
import { reasonsOf } from './invalid-value.ts'
import { systemErrorText } from './references.ts'
import { type AnyRow, settingRows } from './settings.ts'
import { parseYaml } from './yaml-text.ts'

/** Given as `--config`, it means that no file is read. */
export const NO_CONFIG_FILE = 'none'

export interface ConfigFile {
  readonly path: string | undefined
  readonly values: ReadonlyMap<AnyRow, { readonly key: string; readonly raw: unknown }>
  readonly unknownKeys: readonly string[]
  readonly problems: readonly Problem[]
  /** False when the content could not be taken in at all. */
  readonly usable: boolean
  readonly warnings: readonly string[]
}

const noFile: ConfigFile = {
  path: undefined,
  values: new Map(),
  unknownKeys: [],
  problems: [],
  usable: true,
  warnings: [],
}

/** Reads the file `--config` names, or the default one, which is created when it is missing. */
export async function openConfigFile(config: string | undefined, configDir: string): Promise<ConfigFile> {
  if (config === NO_CONFIG_FILE) return noFile
  if (config !== undefined) return readConfigFile(resolve(config))
  const path = join(configDir, 'svcd.yaml')
  if (await isMissing(path)) {
    try {
      await writeTemplate(configDir, path)
    } catch (error) {
      // The template is a convenience: a server on a read-only file system runs without it.
      return { ...noFile, warnings: [`The configuration file ${path} cannot be created: ${systemErrorText(error)}`] }
    }
  }
  return readConfigFile(path)
}

/** False when we cannot tell: a file out of our reach may forbid what the defaults allow, so it must be read or refused. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await stat(path)
    return false
  } catch (error) {
    return errorCode(error) === 'ENOENT'
  }
}

async function readConfigFile(path: string): Promise<ConfigFile> {
  const refuse = (message: string): ConfigFile => ({
    ...noFile,
    path,
    usable: false,
    problems: [{ setting: `The configuration file ${path}`, message }],
  })
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    return refuse(`cannot be read: ${systemErrorText(error)}`)
  }
  try {
    const content = parseYaml(text) ?? {}
    if (!isRecord(content)) return refuse('must be a map of settings, such as "port: 8080"')
    return { ...noFile, path, ...sortKeys(content) }
  } catch (error) {
    return refuse(reasonsOf(error).join('; '))
  }
}

/** Gives each key to the setting it belongs to. */
function sortKeys(content: Record<string, unknown>): Pick<ConfigFile, 'values' | 'unknownKeys' | 'problems'> {
  const values = new Map<AnyRow, { key: string; raw: unknown }>()
  const unknownKeys: string[] = []
  const problems: Problem[] = []
  for (const [key, raw] of flatten(content)) {
    const row = rowByKey.get(key.replaceAll('-', '_'))
    const other = row && values.get(row)
    if (!row) unknownKeys.push(key)
    else if (other) problems.push({ setting: row.name, message: `is in the file twice, as ${other.key} and ${key}` })
    else values.set(row, { key, raw })
  }
  return { values, unknownKeys, problems }
}

const rowByKey: ReadonlyMap<string, AnyRow> = new Map(
  settingRows.flatMap(({ row }) =>
    row.yaml === undefined ? [] : [row.yaml, ...row.yamlAliases].map((key) => [key, row] as const),
  ),
)

/** Words before the dot of a nested key: `nix_seed`. */
const parents = new Set([...rowByKey.keys()].filter((key) => key.includes('.')).map((key) => key.split('.')[0]))

function flatten(content: Record<string, unknown>): readonly (readonly [string, unknown])[] {
  return Object.entries(content).flatMap(([key, value]) =>
    parents.has(key.replaceAll('-', '_')) && isRecord(value)
      ? Object.entries(value).map(([child, nested]) => [`${key}.${child}`, nested] as const)
      : [[key, value] as const],
  )
}

const TEMPLATE = `# Settings of svcd. An environment variable of the same name wins: SVCD_LOG_LEVEL over log_level.
# Every setting is described in docs/reference/settings.md; \`svcd settings\` prints those in effect.
# A value may refer to a file or to the output of a command: file:/run/secrets/name, cmd:pass show name.
#
# log_level: INFO
# product_name: Our workspaces
`

/** Writes the template unless a file is there. Only the owner may read it, since secrets may be added. */
async function writeTemplate(configDir: string, path: string): Promise<void> {
  await mkdir(configDir, { recursive: true, mode: 0o700 })
  try {
    await using file = await open(path, 'wx', 0o600)
    await file.writeFile(TEMPLATE)
  } catch (error) {
    // Another process was quicker, and there is a file to read. Or the name is a link to nothing, which reading refuses.
    if (errorCode(error) !== 'EEXIST') throw error
  }
}
