import { Client } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_AFTER_MS } from './open-postgres.ts'

/** The advisory lock of the server that works on the database. Any number below 2^31 will do, if it never changes. */
export const CLAIM_LOCK = 1_937_138_532

/** For the answers to a few statements that wait for nothing, and for the goodbye. */
const ANSWER_TIMEOUT_MS = 10_000

/**
 * When our machine vanishes, PostgreSQL notices after 25 seconds, not after the two hours that are the default, and the
 * lock is free. That is later than we notice (10 seconds of silence, then one question a second for 10 seconds), so we
 * know before anybody else can have the lock. And no limit for idle sessions may end this one, which is idle by design;
 * PostgreSQL knows such a limit since version 14.
 */
const SESSION_SETTINGS = `
  set tcp_keepalives_idle to 10;
  set tcp_keepalives_interval to 5;
  set tcp_keepalives_count to 3;
  select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout'`

/** Who has the lock; `pg_locks` shows a key of 64 bits as two halves. Other users' rows hide all but the process. */
const HOLDER = `
  select session.pid, session.backend_start, host(session.client_addr) as address
  from pg_locks claim join pg_stat_activity session on session.pid = claim.pid
  where claim.locktype = 'advisory' and claim.granted
    and claim.database = (select oid from pg_database where datname = current_database())
    and claim.classid = 0 and claim.objid = $1 and claim.objsubid = 1`

/** A connection that has the lock. */
export interface Holder {
  /** Tells it from every other connection that there ever was. */
  readonly session: string
  /** Where it comes from, for a machine other than the database's own, and since when. */
  readonly address: string | undefined
  readonly since: Date | undefined
}

/** The lock is ours as long as `connection` lives; or it is somebody else's, who may be gone before we could look. */
export type Attempt =
  | { readonly taken: true; readonly connection: ClaimConnection }
  | { readonly taken: false; readonly holder: Holder | undefined }

/** Connects and tries for the lock once. `signal` ends an attempt under way. */
export async function tryClaim(url: string, clock: Clock, signal: AbortSignal): Promise<Attempt> {
  signal.throwIfAborted()
  const client = createClient(url)
  const ended = endOf(client)
  const destroy = () => void client.connection.stream.destroy()
  signal.addEventListener('abort', destroy, { once: true })
  try {
    await client.connect()
    await client.query(SESSION_SETTINGS)
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [CLAIM_LOCK])
    const holder = await findHolder(client)
    const connection = new ClaimConnection({ client, clock, ended, session: holder?.session })
    if (rows[0]?.taken) return { taken: true, connection }
    await connection.close()
    return { taken: false, holder }
  } catch (error) {
    destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', destroy)
  }
}

/** The connection that has the lock. The lock goes with it. */
export class ClaimConnection {
  readonly #client: Client
  readonly #clock: Clock
  /** Resolves, with the reason if there is one, when the connection is gone, whoever ended it. */
  readonly ended: Promise<Error | undefined>
  readonly session: string | undefined

  constructor(parts: {
    client: Client
    clock: Clock
    ended: Promise<Error | undefined>
    session: string | undefined
  }) {
    this.#client = parts.client
    this.#clock = parts.clock
    this.ended = parts.ended
    this.session = parts.session
  }

  /** Waits for the server to close its side, because by then it has given the lock back. */
  async close(): Promise<void> {
    const cancel = this.#clock.after(ANSWER_TIMEOUT_MS, () => void this.#client.connection.stream.destroy())
    await this.#client.end()
    cancel()
  }
}

function createClient(url: string): Client {
  return new Client({
    connectionString: url,
    application_name: 'svcd claim',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  })
}

function endOf(client: Client): Promise<Error | undefined> {
  let reason: Error | undefined
  client.on('error', (error) => {
    reason ??= error
  })
  return new Promise((resolve) => client.once('end', () => resolve(reason)))
}

async function findHolder(client: Client): Promise<Holder | undefined> {
  type Row = { pid: number; backend_start: Date | null; address: string | null }
  const { rows } = await client.query<Row>(HOLDER, [CLAIM_LOCK])
  const row = rows[0]
  if (!row) return undefined
  const since = row.backend_start ?? undefined
  return { session: `${row.pid} ${since?.toISOString()}`, address: row.address ?? undefined, since }
}
