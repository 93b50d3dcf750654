import type { Storage } from '../../storage/storage.ts'
import type { AuditEntry } from './audit-entry.ts'

/** The `audit_events` table. Rows are only ever added. */
export class AuditStore {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  async insert(entry: AuditEntry, createdAtSeconds: number): Promise<void> {
    await this.#storage.db
      .insertInto('audit_events')
      .values({
        event: entry.event,
        actor_id: null,
        actor_email: null,
        target_type: entry.targetType,
        target_id: entry.targetId,
        detail: JSON.stringify(entry.detail),
        source_ip: null,
        user_agent: null,
        method: null,
        referer: null,
        created_at: createdAtSeconds,
      })
      .execute()
  }
}
