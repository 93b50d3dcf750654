import { randomUUID } from 'node:crypto'
import { systemAgent } from '@svc/protocol/system-agent'
import type { Kysely, Transaction } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import { ADMINS, MEMBERS } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { parseEmail } from '../accounts/email-address.ts'
import type { AccessControl } from '../acl/access-control.ts'
import { defaultEntries } from '../acl/default-entries.ts'
import { BY_ITSELF } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { takesPasswords } from '../auth/auth-modes.ts'
import type { PasswordHasher } from '../passwords/password-hash.ts'
import { findWeakness } from '../passwords/password-policy.ts'
import { SeedStore } from './seed-store.ts'

/** The settings do not fit the accounts there are. The message is for the operator and begins with the setting. */
export class SeedRefused extends Error {
  override readonly name = 'SeedRefused'

  constructor(setting: string, why: string) {
    super(`${setting} ${why}`)
  }
}

interface SeedParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly hasher: PasswordHasher
  readonly audit: AuditLog
  readonly settings: () => Pick<Settings, 'auth' | 'passwords'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Brings a database to where people can use it: the groups every installation has, the entries of the access-control
 * tree while there are none, the system agent, and an administrator while there is none. Done at every start; what is
 * there already stays as it is.
 */
export async function seed(parts: SeedParts): Promise<void> {
  const store = new SeedStore()
  const { auth } = parts.settings()
  const needsAdmin = (await store.countAdmins(parts.storage.db)) === 0
  const passwordHash = needsAdmin && takesPasswords(auth) ? await firstPassword(parts) : null
  await parts.storage.transaction(async (tx) => {
    const nowSeconds = parts.clock.nowMs() / 1000
    const adminsId = await store.ensureGroup(tx, group(ADMINS, 'Run this installation', nowSeconds))
    const membersId = await store.ensureGroup(tx, group(MEMBERS, 'Everybody who has an account', nowSeconds))
    if (await parts.access.isUnseeded(tx)) {
      for (const { resource, entries } of defaultEntries({ adminsId, membersId })) {
        await parts.access.replace(tx, resource, entries)
      }
    }
    if (!(await parts.accounts.find(systemAgent.id, tx))) await store.insertAgent(tx, nowSeconds)
    if ((await store.countAdmins(tx)) === 0) await seedAdmin(parts, tx, passwordHash)
    await requireWayIn(tx, auth)
  })
}

/** Refuses a mode in which no administrator could sign in. Asked at the start and at every reload. */
export async function requireWayIn(queries: Kysely<Database>, auth: Pick<Settings['auth'], 'modes'>): Promise<void> {
  if (!takesPasswords(auth) || (await new SeedStore().countAdmins(queries, { withPassword: true })) > 0) return
  throw new SeedRefused(
    'SVCD_AUTH_MODES',
    `is ${auth.modes}, and no administrator has a password: start once with none, or give one a password first`,
  )
}

async function firstPassword({ settings, hasher }: SeedParts): Promise<string> {
  const { auth, passwords } = settings()
  const password = auth.defaultPassword?.reveal()
  if (password === undefined) {
    const why = `must be set: sign-in mode ${auth.modes} needs it for the first administrator`
    throw new SeedRefused('SVCD_DEFAULT_PASSWORD', why)
  }
  const weakness = findWeakness(password, passwords)
  if (weakness !== undefined) throw new SeedRefused('SVCD_DEFAULT_PASSWORD', `is not good enough: ${weakness}`)
  return hasher.hash(password, undefined)
}

/** The operator's own account, or the one that already has its address. */
async function seedAdmin(parts: SeedParts, tx: Transaction<Database>, passwordHash: string | null): Promise<void> {
  const { accounts, audit, log } = parts
  const configured = parts.settings().auth.defaultUser
  const email = parseEmail(configured)
  if (email === undefined) throw new SeedRefused('SVCD_DEFAULT_USER', 'must be an address people can sign in with')
  const existing = await accounts.findByEmail(email, tx)
  if (existing && !existing.verified) {
    throw new SeedRefused('SVCD_DEFAULT_USER', `is ${email}, which somebody registered and never proved to be theirs`)
  }
  const account = existing ?? (await accounts.create(tx, { email, verified: true, passwordHash }))
  if (existing && existing.passwordHash === null && passwordHash !== null) {
    await accounts.setPassword(tx, existing, { hash: passwordHash, mustChange: false, historyCount: 0 })
  }
  if (!existing) {
    const detail = { email, status: 'created', via: 'seed' }
    await audit.record(tx, BY_ITSELF, { event: 'user.create', targetType: 'user', targetId: account.id, detail })
  }
  if (account.disabled) await accounts.change(tx, account.id, { disabled: false })
  await accounts.join(tx, account.id, ADMINS)
  log.info(`${email} is the administrator of this installation`)
}

const group = (name: string, description: string, createdAt: number) => ({
  id: randomUUID(),
  name,
  description,
  source: 'manual' as const,
  created_at: createdAt,
})
