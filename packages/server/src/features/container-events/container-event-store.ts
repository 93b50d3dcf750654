import { type DeleteResult, type SqlBool, sql, type Transaction } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { contains } from '../../storage/like.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ContainerEventEntry, ContainerEventFilter, ContainerEventRecord } from './container-event.ts'

interface Page {
  readonly limit: number
  readonly offset: number
}

/** Columns of the row and of the two it may refer to. */
interface Row {
  readonly id: number
  readonly workspace_id: string
  readonly workspace_name: string | null
  readonly event: string
  readonly actor_type: 'user' | 'agent' | 'system'
  readonly actor_id: string | null
  readonly actor_email: string | null
  readonly cause: string
  readonly container_id: string | null
  readonly container_role: string
  readonly network_namespace: string | null
  readonly created_at: number
}

/** The `container_events` table. Rows are only ever added, and removed when they are old. */
export class ContainerEventStore {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** In its turn, so that a later id is never seen before an earlier one. */
  async insert(entry: ContainerEventEntry, createdAtSeconds: number): Promise<void> {
    const row = {
      workspace_id: entry.workspaceId,
      event: entry.event,
      actor_type: entry.actorId === null ? ('system' as const) : ('user' as const),
      actor_id: entry.actorId,
      cause: entry.cause,
      container_id: entry.containerId,
      container_role: entry.containerRole,
      network_namespace: entry.networkNamespace,
      created_at: createdAtSeconds,
    }
    await this.#storage.transaction((tx) => tx.insertInto('container_events').values(row).execute())
  }

  /** The newest first, and how many there are in all. */
  async page(filter: ContainerEventFilter, page: Page): Promise<{ records: ContainerEventRecord[]; total: number }> {
    const { db } = this.#storage
    const { workspace, workspaceId } = filter
    if (workspace) return this.#pageOfNamed(workspace, page)
    if (!workspaceId) {
      return { records: (await this.#newest(page).execute()).map(fromRow), total: await countAll(this.#storage) }
    }
    const rows = await this.#newest(page).where('e.workspace_id', '=', workspaceId).execute()
    const count = db.selectFrom('container_events').where('workspace_id', '=', workspaceId).select(total)
    return { records: rows.map(fromRow), total: (await count.executeTakeFirstOrThrow()).total }
  }

  /** Part of a name is looked for in every row. As raw statements these two leave the main thread alone. */
  async #pageOfNamed(text: string, page: Page): Promise<{ records: ContainerEventRecord[]; total: number }> {
    const { db } = this.#storage
    const matches = sql<SqlBool>`(${sql.ref('e.workspace_id')} = ${text} or ${contains('w.name', text)})`
    const newest = this.#newest(page).where(matches)
    const count = db
      .selectFrom('container_events as e')
      .leftJoin('workspaces as w', 'w.id', 'e.workspace_id')
      .where(matches)
      .select(total)
    const { rows } = await sql<Row>`select * from ${newest} as newest order by created_at desc, id desc`.execute(db)
    const { rows: counts } = await sql<{ total: number }>`select total from ${count} as counted`.execute(db)
    return { records: rows.map(fromRow), total: counts[0]?.total ?? 0 }
  }

  #newest({ limit, offset }: Page) {
    return this.#storage.db
      .selectFrom('container_events as e')
      .leftJoin('workspaces as w', 'w.id', 'e.workspace_id')
      .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'e.actor_id').on('e.actor_type', '=', 'user'))
      .select(['e.id', 'e.workspace_id', 'w.name as workspace_name', 'e.event', 'e.actor_type', 'e.actor_id'])
      .select(['u.email as actor_email', 'e.cause', 'e.container_id', 'e.container_role', 'e.network_namespace'])
      .select('e.created_at')
      .orderBy('e.created_at', 'desc')
      .orderBy('e.id', 'desc')
      .limit(limit)
      .offset(offset)
  }

  /** Removes some of the rows from before a moment; answers how many. */
  deleteBefore(createdAtSeconds: number, atMost: number): Promise<number> {
    return this.#storage.transaction(async (tx) => {
      const old = oldest(tx, atMost).where('created_at', '<', createdAtSeconds)
      return deleted(await tx.deleteFrom('container_events').where('id', 'in', old).executeTakeFirst())
    })
  }

  /** Removes some of the oldest rows beyond the `keep` newest; answers how many. */
  async deleteBeyond(keep: number, atMost: number): Promise<number> {
    const surplus = Math.min((await countAll(this.#storage)) - keep, atMost)
    if (surplus <= 0) return 0
    return this.#storage.transaction(async (tx) =>
      deleted(await tx.deleteFrom('container_events').where('id', 'in', oldest(tx, surplus)).executeTakeFirst()),
    )
  }
}

const total = sql<number>`count(*)`.as('total')

async function countAll({ db }: Storage): Promise<number> {
  return (await db.selectFrom('container_events').select(total).executeTakeFirstOrThrow()).total
}

const oldest = (tx: Transaction<Database>, atMost: number) =>
  tx.selectFrom('container_events').select('id').orderBy('created_at').orderBy('id').limit(atMost)

const deleted = ({ numDeletedRows }: DeleteResult): number => Number(numDeletedRows)

function fromRow(row: Row): ContainerEventRecord {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    event: row.event,
    actorType: row.actor_type,
    actorId: row.actor_id,
    actorEmail: row.actor_email,
    cause: row.cause,
    containerId: row.container_id,
    containerRole: row.container_role,
    networkNamespace: row.network_namespace,
    createdAt: row.created_at,
  }
}
