import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { oidcRows } from './areas/oidc.ts'
import { InvalidValue, reasonsOf } from './invalid-value.ts'
import { parseProviders } from './oidc-providers.ts'
import type { Reading } from './read-row.ts'
import { systemErrorText } from './references.ts'
import type { ParseContext } from './row.ts'
import { parseYaml } from './yaml-text.ts'

/** The providers from the file `SVCD_OIDC_CONFIG` names. It wins over the list in the configuration file. */
export async function readProviderFile(path: string, context: ParseContext): Promise<Reading> {
  const base = { row: oidcRows.providers, source: 'file', byReference: false } as const
  try {
    const content = parseYaml(await readText(path))
    const value = await parseProviders(content, { ...context, baseDir: dirname(path) })
    return { ...base, value, problems: [] }
  } catch (error) {
    const setting = oidcRows.configFile.name
    const problems = reasonsOf(error).map((reason) => ({ setting, message: `(the file it names) ${reason}` }))
    return { ...base, value: undefined, problems }
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new InvalidValue(`cannot be read: ${systemErrorText(error)}`)
  }
}
