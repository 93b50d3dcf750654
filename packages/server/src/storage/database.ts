import type { ColumnType, Generated } from 'kysely'

/** Every table, as SQL spells it. Rows become the features' own types in their `*-store.ts`. */
export interface Database {
  audit_events: AuditEventsTable
  migrations: MigrationsTable
}

/** A column that is written once: no update may name it. */
type WrittenOnce<T> = ColumnType<T, T, never>

/** Who did what to whom. Append-only: the database itself refuses updates; only retention deletes. */
export interface AuditEventsTable {
  /** Grows for ever and is never given out twice, so a reader may remember how far it got. */
  id: Generated<number>
  event: WrittenOnce<string>
  actor_id: WrittenOnce<string | null>
  actor_email: WrittenOnce<string | null>
  target_type: WrittenOnce<string | null>
  target_id: WrittenOnce<string | null>
  /** A JSON object as text. */
  detail: WrittenOnce<string>
  source_ip: WrittenOnce<string | null>
  user_agent: WrittenOnce<string | null>
  method: WrittenOnce<string | null>
  referer: WrittenOnce<string | null>
  /** Epoch seconds with fractions. */
  created_at: WrittenOnce<number>
}

/** What `migrations/migrate.ts` has done to this database; nobody else writes here. */
export interface MigrationsTable {
  number: number
  name: string
  /** SHA-256 of the statements as they were run. */
  digest: string
  applied_at: number
}
