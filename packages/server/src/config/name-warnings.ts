import type { Environment } from './environment.ts'
import { settingRows } from './settings.ts'

/** Names that once were settings, or look like one, and what to do instead. */
const retired: ReadonlyMap<string, string> = new Map([
  ['SVCD_PROXY_PORT', 'use SVCD_EGRESS_PORT'],
  ['SVCD_ENABLE_PING', 'no longer needed'],
  ['SVCD_VOLUME_QUOTA_PER_USER', 'use SVCD_VOLUME_QUOTA_PER_WORKSPACE'],
  ['SVCD_CADDY_ADMIN_SOCKET', 'no longer needed'],
  ['SVCD_PROXY_BIN', 'no longer needed'],
  ['proxy_port', 'use egress_port'],
  ['enable_ping', 'no longer needed'],
  ['volume_quota_per_user', 'use volume_quota_per_workspace'],
  ['caddy_admin_socket', 'no longer needed'],
  ['proxy_bin', 'no longer needed'],
  ['config_dir', 'set SVCD_CONFIG_DIR: the file cannot move the directory it lies in'],
])

const variables = settingRows.flatMap(({ row }) => row.env ?? [])
const keys = settingRows.flatMap(({ row }) => row.yaml ?? [])

/** At most one line about retired names and one about unknown ones. */
export function nameWarnings(env: Environment, unknownKeys: readonly string[]): readonly string[] {
  const known = new Set(variables)
  const unknownVariables = Object.keys(env).filter((name) => name.startsWith('SVCD_') && !known.has(name))
  const names = [...unknownVariables, ...unknownKeys]
  const reasons = names.map((name) => ({ name, instead: retired.get(name.replaceAll('-', '_')) }))
  const old = reasons.flatMap(({ name, instead }) => (instead ? `${name} (${instead})` : []))
  const unknown = reasons.flatMap(({ name, instead }) => (instead ? [] : withSuggestion(name)))
  return [
    ...(old.length > 0 ? [`Settings that are ignored: ${old.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`Unknown settings, ignored: ${unknown.join(', ')}`] : []),
  ]
}

function withSuggestion(name: string): string {
  const candidates = name.startsWith('SVCD_') ? variables : keys
  const near = candidates.find((candidate) => editDistance(name.replaceAll('-', '_'), candidate) <= 2)
  return near ? `${name} (did you mean ${near}?)` : name
}

/** Insertions, deletions and replacements that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...b].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
