import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Database, UserSessionsTable } from '../../storage/database.ts'
import type { Session } from './session.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>

/** The table `user_sessions`. */
export class SessionStore {
  async findByJti(queries: Queries, jti: string): Promise<Session | undefined> {
    const row = await queries.selectFrom('user_sessions').selectAll().where('jti', '=', jti).executeTakeFirst()
    return row && fromRow(row)
  }

  async findByPreviousJti(queries: Queries, jti: string): Promise<Session | undefined> {
    const row = await queries.selectFrom('user_sessions').selectAll().where('previous_jti', '=', jti).executeTakeFirst()
    return row && fromRow(row)
  }

  /** The oldest first. */
  async listOf(queries: Queries, userId: string): Promise<Session[]> {
    const rows = await queries
      .selectFrom('user_sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('created_at')
      .orderBy('number')
      .execute()
    return rows.map(fromRow)
  }

  async insert(tx: Tx, session: Session): Promise<void> {
    await tx
      .insertInto('user_sessions')
      .values({
        id: session.id,
        user_id: session.userId,
        jti: session.jti,
        created_at: session.createdAt,
        issued_at: session.issuedAt,
        expires_at: session.expiresAt,
        last_seen_at: session.lastSeenAt,
        source_ip: session.sourceIp,
        user_agent: session.userAgent,
      })
      .execute()
  }

  /** The same session under another token. */
  async rekey(tx: Tx, session: Session): Promise<void> {
    await tx
      .updateTable('user_sessions')
      .set({
        jti: session.jti,
        previous_jti: session.previousJti,
        refreshed_at: session.refreshedAt,
        issued_at: session.issuedAt,
        expires_at: session.expiresAt,
      })
      .where('id', '=', session.id)
      .execute()
  }

  async delete(tx: Tx, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await tx.deleteFrom('user_sessions').where('id', 'in', ids).execute()
  }

  async deleteExpired(tx: Tx, nowSeconds: number): Promise<void> {
    await tx.deleteFrom('user_sessions').where('expires_at', '<=', nowSeconds).execute()
  }
}

function fromRow(row: Selectable<UserSessionsTable>): Session {
  return {
    id: row.id,
    userId: row.user_id,
    jti: row.jti,
    previousJti: row.previous_jti,
    refreshedAt: row.refreshed_at,
    createdAt: row.created_at,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    lastSeenAt: row.last_seen_at,
    sourceIp: row.source_ip,
    userAgent: row.user_agent,
  }
}
