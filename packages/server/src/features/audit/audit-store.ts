import { type ExpressionBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { storedHeader } from '../../kernel/stored-header.ts'
import type { AuditEventsTable, Database } from '../../storage/database.ts'
import { contains } from '../../storage/like.ts'
import type { Storage } from '../../storage/storage.ts'
import { type AuditEntry, type AuditFilter, type AuditRecord, BY_ITSELF, type Origin } from './audit-entry.ts'

const REFERER_LENGTH = 2048

type Row = Selectable<AuditEventsTable>

interface Page {
  readonly limit: number
  readonly offset: number
}

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
  async insertAlone(entry: AuditEntry, createdAtSeconds: number): Promise<void> {
    await this.#storage.transaction((tx) => this.insert(tx, BY_ITSELF, entry, createdAtSeconds))
  }

  async insert(tx: Transaction<Database>, origin: Origin, entry: AuditEntry, createdAtSeconds: number): Promise<void> {
    const { actor, request } = origin
    const row = {
      event: entry.event,
      actor_id: actor?.userId ?? null,
      actor_email: actor?.email ?? null,
      target_type: entry.targetType,
      target_id: entry.targetId,
      detail: JSON.stringify(entry.detail),
      source_ip: request?.clientAddress ?? null,
      user_agent: storedHeader(request?.userAgent),
      method: request?.method ?? null,
      referer: storedHeader(request?.referer, REFERER_LENGTH),
      created_at: createdAtSeconds,
    }
    await tx.insertInto('audit_events').values(row).execute()
  }

  /** The newest first, and how many there are in all. */
  async page(filter: AuditFilter, { limit, offset }: Page): Promise<{ records: AuditRecord[]; total: number }> {
    const { db } = this.#storage
    const all = db.selectFrom('audit_events')
    // SQLite counts a whole table several times faster when no condition at all is written.
    const matching = isEmpty(filter) ? all : all.where(matches(filter))
    const newest = matching.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset)
    const count = matching.select(({ fn }) => fn.countAll<number>().as('total'))
    if (isEmpty(filter)) {
      return { records: (await newest.execute()).map(fromRow), total: (await count.executeTakeFirstOrThrow()).total }
    }
    // A filter has to look at every row. Written as raw statements these two leave the main thread alone.
    const { rows } = await sql<Row>`select * from ${newest} as newest order by created_at desc, id desc`.execute(db)
    const { rows: counts } = await sql<{ total: number }>`select total from ${count} as counted`.execute(db)
    return { records: rows.map(fromRow), total: counts[0]?.total ?? 0 }
  }
}

const isEmpty = ({ event, actor, target }: AuditFilter): boolean => !event && !actor && !target

function matches({ event, actor, target }: AuditFilter) {
  return ({ and, or }: ExpressionBuilder<Database, 'audit_events'>) =>
    and([
      ...(event ? [contains('event', event)] : []),
      ...(actor ? [or([contains('actor_id', actor), contains('actor_email', actor)])] : []),
      ...(target ? [contains('target_id', target)] : []),
    ])
}

function fromRow(row: Row): AuditRecord {
  return {
    id: row.id,
    event: row.event,
    actorId: row.actor_id,
    actorEmail: row.actor_email,
    targetType: row.target_type,
    targetId: row.target_id,
    detail: detailOf(JSON.parse(row.detail)),
    sourceIp: row.source_ip,
    userAgent: row.user_agent,
    method: row.method,
    referer: row.referer,
    createdAt: row.created_at,
  }
}

const detailOf = (stored: unknown): AuditRecord['detail'] =>
  typeof stored === 'object' && stored !== null ? { ...stored } : null
