import type { Storage } from '../../storage/storage.ts'
import type { AuditEntry } from './audit-entry.ts'

/** The `audit_events` table. Rows are only ever added. */
export class AuditStore {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * In a transaction although it is one statement: PostgreSQL gives out the id before the commit, so without the turn
   * a later id could be seen before an earlier one, and a reader who remembers how far it got would miss a row.
   */
  async insert(entry: AuditEntry, createdAtSeconds: number): Promise<void> {
    const row = {
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
    }
    await this.#storage.transaction((tx) => tx.insertInto('audit_events').values(row).execute())
  }
}
