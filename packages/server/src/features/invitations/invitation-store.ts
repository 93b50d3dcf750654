import type { SortOrder } from '@svc/protocol/paging'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Database, InvitationsTable } from '../../storage/database.ts'
import { contains } from '../../storage/like.ts'
import type { Invitation } from './invitation.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>

/** Which invitations, and in what order. */
export interface InvitationView {
  readonly page: number
  readonly pageSize: number
  readonly sort: 'email' | 'invited_by' | 'created'
  readonly order: SortOrder
  /** A part of the address; empty or undefined for all. */
  readonly text: string | undefined
}

const SORT_COLUMNS = { email: 'email', invited_by: 'invited_by_email', created: 'created_at' } as const

/** The table `invitations`. */
export class InvitationStore {
  async find(queries: Queries, id: string): Promise<Invitation | undefined> {
    const row = await queries.selectFrom('invitations').selectAll().where('id', '=', id).executeTakeFirst()
    return row && fromRow(row)
  }

  async hasPending(queries: Queries, email: string): Promise<boolean> {
    const pending = queries.selectFrom('invitations').select('id').where('email', '=', email)
    return (await pending.where('status', '=', 'pending').executeTakeFirst()) !== undefined
  }

  /** The newest first. */
  async all(queries: Queries): Promise<Invitation[]> {
    const invitations = queries.selectFrom('invitations').selectAll()
    return (await invitations.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()).map(fromRow)
  }

  async page(queries: Queries, view: InvitationView): Promise<{ invitations: Invitation[]; total: number }> {
    let matching = queries.selectFrom('invitations')
    if (view.text) matching = matching.where(contains('email', view.text))
    const rows = await matching
      .selectAll()
      .orderBy(SORT_COLUMNS[view.sort], view.order)
      .orderBy('id', view.order)
      .limit(view.pageSize)
      .offset((view.page - 1) * view.pageSize)
      .execute()
    const { total } = await matching
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { invitations: rows.map(fromRow), total }
  }

  async countPending(queries: Queries): Promise<number> {
    const { pending } = await queries
      .selectFrom('invitations')
      .select((select) => select.fn.countAll<number>().as('pending'))
      .where('status', '=', 'pending')
      .executeTakeFirstOrThrow()
    return pending
  }

  async insert(tx: Tx, invitation: Invitation): Promise<void> {
    const { id, email, status } = invitation
    const row = {
      id,
      email,
      status,
      invited_by: invitation.invitedBy,
      invited_by_email: invitation.invitedByEmail,
      created_at: invitation.createdAt,
      accepted_at: invitation.acceptedAt,
    }
    await tx.insertInto('invitations').values(row).execute()
  }

  async markRevoked(tx: Tx, id: string): Promise<void> {
    await tx.updateTable('invitations').set({ status: 'revoked' }).where('id', '=', id).execute()
  }

  async markAccepted(tx: Tx, id: string, nowSeconds: number): Promise<void> {
    const accepted = { status: 'accepted', accepted_at: nowSeconds } as const
    await tx.updateTable('invitations').set(accepted).where('id', '=', id).execute()
  }
}

function fromRow(row: Selectable<InvitationsTable>): Invitation {
  return {
    id: row.id,
    email: row.email,
    invitedBy: row.invited_by,
    invitedByEmail: row.invited_by_email,
    status: row.status,
    createdAt: row.created_at,
    acceptedAt: row.accepted_at,
  }
}
