/**
 * Writes the pages of docs/reference from the tables in code: routes, audit events, error codes, exit codes,
 * permissions, settings, frames.
 * With `--check` it writes nothing and fails when a page on disk is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsReference } from '../packages/server/src/config/settings-reference.ts'
import { apiPage } from './reference/api-page.ts'
import { auditEventsPage } from './reference/audit-events-page.ts'
import { errorsPage } from './reference/errors-page.ts'
import { exitCodesPage } from './reference/exit-codes-page.ts'
import { permissionsPage } from './reference/permissions-page.ts'
import { serviceTables } from './reference/service-tables.ts'
import { websocketPage } from './reference/websocket-page.ts'

const folder = join(import.meta.dirname, '../docs/reference')
const tables = await serviceTables()
const pages: Readonly<Record<string, string>> = {
  'api.md': apiPage(tables.routes),
  'audit-events.md': auditEventsPage(),
  'errors.md': errorsPage(),
  'exit-codes.md': exitCodesPage(),
  'permissions.md': permissionsPage(tables),
  'settings.md': settingsReference(),
  'websocket.md': websocketPage(tables.frames),
}

const isCheck = process.argv.includes('--check')
for (const [name, text] of Object.entries(pages)) {
  const path = join(folder, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (isCheck) {
    console.error(`docs/reference/${name} is out of date: run node scripts/print-reference.ts`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`wrote docs/reference/${name}`)
  }
}
