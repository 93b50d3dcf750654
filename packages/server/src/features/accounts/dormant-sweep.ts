import type { Settings } from '../../config/settings.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Storage } from '../../storage/storage.ts'
import { BY_ITSELF } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Accounts } from './accounts.ts'

const SECONDS_PER_DAY = 86_400

interface SweepParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly audit: AuditLog
  readonly settings: () => Pick<Settings['auth'], 'inactivityDisableDays'>
  readonly clock: Clock
  readonly log: Logger
}

/** Disables accounts nobody has used for long. Administrators are spared: somebody must be able to enable them again. */
export async function disableDormant(parts: SweepParts): Promise<void> {
  const { storage, accounts, audit, settings, clock, log } = parts
  const days = settings().inactivityDisableDays
  if (days === 0) return
  // Taken now: while this waits for its turn, time may pass that nobody had a chance to be active in.
  const since = clock.nowMs() / 1000 - days * SECONDS_PER_DAY
  const disabled = await storage.transaction(async (tx) => {
    const dormant = await accounts.dormantSince(tx, since)
    for (const { id } of dormant) {
      await accounts.change(tx, id, { disabled: true })
      const detail = { via: 'inactivity' }
      await audit.record(tx, BY_ITSELF, { event: 'user.disable', targetType: 'user', targetId: id, detail })
    }
    return dormant
  })
  if (disabled.length > 0) log.info(`disabled ${disabled.length} accounts without activity for ${days} days`)
}
