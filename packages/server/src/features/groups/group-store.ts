import type { GroupSource } from '@svc/protocol/groups'
import type { SortOrder } from '@svc/protocol/paging'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Database, UserGroupsTable } from '../../storage/database.ts'
import { contains } from '../../storage/like.ts'
import type { Group, Member } from './group.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>

/** Which groups, and in what order. */
export interface GroupView {
  readonly page: number
  readonly pageSize: number
  readonly sort: 'name' | 'created'
  readonly order: SortOrder
  /** A part of the name; empty or undefined for all. */
  readonly text: string | undefined
  /** Undefined for all. */
  readonly source: GroupSource | undefined
}

/** The tables `user_groups` and `group_members`. */
export class GroupStore {
  async find(queries: Queries, by: { id: string } | { name: string }): Promise<Group | undefined> {
    const [column, value] = 'id' in by ? (['id', by.id] as const) : (['name', by.name] as const)
    const row = await queries.selectFrom('user_groups').selectAll().where(column, '=', value).executeTakeFirst()
    return row && fromRow(row)
  }

  async page(queries: Queries, view: GroupView): Promise<{ groups: Group[]; total: number }> {
    const { text, source } = view
    let matching = queries.selectFrom('user_groups')
    if (text) matching = matching.where(contains('name', text))
    if (source) matching = matching.where('source', '=', source)
    const rows = await matching
      .selectAll()
      .orderBy(view.sort === 'name' ? 'name' : 'created_at', view.order)
      .orderBy('id', view.order)
      .limit(view.pageSize)
      .offset((view.page - 1) * view.pageSize)
      .execute()
    const { total } = await matching
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { groups: rows.map(fromRow), total }
  }

  async insert(tx: Tx, { createdAt, ...group }: Group): Promise<void> {
    await tx
      .insertInto('user_groups')
      .values({ ...group, created_at: createdAt })
      .execute()
  }

  async update(tx: Tx, id: string, change: Pick<Group, 'name' | 'description'>): Promise<void> {
    const { name, description } = change
    await tx.updateTable('user_groups').set({ name, description }).where('id', '=', id).execute()
  }

  /** Its memberships and access-control entries go with it. */
  async delete(tx: Tx, id: string): Promise<void> {
    await tx.deleteFrom('user_groups').where('id', '=', id).execute()
  }

  /** In the order of their addresses. */
  async members(queries: Queries, groupId: string): Promise<Member[]> {
    return queries
      .selectFrom('group_members')
      .innerJoin('users', 'users.id', 'group_members.user_id')
      .select(['users.id as userId', 'users.email', 'users.handle', 'group_members.source'])
      .where('group_members.group_id', '=', groupId)
      .orderBy('users.email')
      .execute()
  }

  async memberIds(tx: Tx, groupId: string): Promise<string[]> {
    const rows = await tx.selectFrom('group_members').select('user_id').where('group_id', '=', groupId).execute()
    return rows.map((row) => row.user_id)
  }

  /** False when they were a member before. */
  async addMember(tx: Tx, groupId: string, userId: string): Promise<boolean> {
    const added = await tx
      .insertInto('group_members')
      .values({ group_id: groupId, user_id: userId, source: 'manual' })
      .onConflict((conflict) => conflict.columns(['group_id', 'user_id']).doNothing())
      .returning('user_id')
      .execute()
    return added.length > 0
  }

  /** False when they were no member. */
  async removeMember(tx: Tx, groupId: string, userId: string): Promise<boolean> {
    const removed = await tx
      .deleteFrom('group_members')
      .where('group_id', '=', groupId)
      .where('user_id', '=', userId)
      .returning('user_id')
      .execute()
    return removed.length > 0
  }
}

function fromRow({ created_at, ...row }: Selectable<UserGroupsTable>): Group {
  return { ...row, createdAt: created_at }
}
