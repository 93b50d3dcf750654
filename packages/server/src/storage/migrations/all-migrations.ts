import { auditEvents } from './0001-audit-events.ts'
import { accounts } from './0002-accounts.ts'
import { workspaces } from './0003-workspaces.ts'
import { hostedPublic } from './0004-hosted-public.ts'
import type { Migration } from './migration.ts'

/** Every step of the schema, in order. A new one is a new file, added at the end. */
export const allMigrations: readonly Migration[] = [auditEvents, accounts, workspaces, hostedPublic]
