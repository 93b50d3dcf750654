import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Logger } from '../../kernel/logger.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { findPostgres, type PostgresCluster, startPostgres } from '../../testing/postgres.ts'
import { silentLogger } from '../../testing/storages.ts'
import { type Storage, StorageUnavailable } from '../storage.ts'
import { openPostgres } from './open-postgres.ts'

describe.skipIf(!findPostgres())('postgres', () => {
  let cluster: PostgresCluster
  const opened: Storage[] = []

  beforeAll(async () => {
    const started = await startPostgres()
    if (started) cluster = started
  })
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close()
  })
  afterAll(() => cluster.stop())

  async function openAt(url: string, logger: Logger = silentLogger): Promise<Storage> {
    const storage = await openPostgres({ url, clock: new FakeClock(), logger })
    opened.push(storage)
    return storage
  }

  /** Ends every session of this database from outside, as a restart of the server would. */
  async function endSessions(url: string): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await client.end()
  }

  test('a commit is on the disk before it is acknowledged, whatever the default of the server', async () => {
    const url = await cluster.createDatabase()
    const client = new Client({ connectionString: url })
    await client.connect()
    expect((await client.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }])
    await client.end()
    const storage = await openAt(url)
    expect((await sql`show synchronous_commit`.execute(storage.db)).rows).toEqual([{ synchronous_commit: 'on' }])
    await storage.transaction(async (tx) => {
      expect((await sql`show synchronous_commit`.execute(tx)).rows).toEqual([{ synchronous_commit: 'on' }])
    })
  })

  test('connections that break while idle are logged and replaced', async () => {
    const url = await cluster.createDatabase()
    const warning = vi.fn()
    const { db } = await openAt(url, { ...silentLogger, warning })
    await endSessions(url)
    await vi.waitFor(() => expect(warning).toHaveBeenCalledWith('lost a database connection', expect.anything()))
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
  })

  test('a connection that breaks inside a transaction fails that transaction and nothing else', async () => {
    const url = await cluster.createDatabase()
    const storage = await openAt(url)
    const attempt = storage.transaction(async (tx) => {
      await tx.insertInto('audit_events').values({ event: 'lost', detail: '{}', created_at: 1 }).execute()
      await endSessions(url)
    })
    await expect(attempt).rejects.toThrow()
    await storage.transaction((tx) =>
      tx.insertInto('audit_events').values({ event: 'kept', detail: '{}', created_at: 1 }).execute(),
    )
    expect(await storage.db.selectFrom('audit_events').select('event').execute()).toEqual([{ event: 'kept' }])
  })

  test('a missing pg_dump is named', async () => {
    const storage = await openAt(await cluster.createDatabase())
    vi.stubEnv('PATH', '/nonexistent')
    onTestFinished(() => void vi.unstubAllEnvs())
    const path = join(tmpdir(), `svc-${randomUUID()}.backup`)
    await expect(storage.backup(path)).rejects.toThrow('pg_dump was not found: install the PostgreSQL client tools')
  })

  describe('a database that cannot be used', () => {
    const refusal = async (url: string) => {
      const error = await openAt(url).catch((error: unknown) => error)
      if (!(error instanceof StorageUnavailable)) throw new Error('the database was not refused', { cause: error })
      expect(error.message).not.toContain('secret')
      return error
    }

    test('a port where nothing answers is named', async () => {
      const listener = createServer().listen(0, '127.0.0.1')
      await vi.waitFor(() => expect(listener.address()).not.toBeNull())
      const address = listener.address()
      const port = typeof address === 'object' ? address?.port : undefined
      await new Promise((resolve) => listener.close(resolve))
      const error = await refusal(`postgres://svc:secret@127.0.0.1:${port}/svc`)
      expect(error.message).toBe(
        `the PostgreSQL database "svc" at 127.0.0.1:${port} (user "svc") cannot be used: nothing answers there`,
      )
      expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' })
    })

    test('a wrong password is called that', async () => {
      const url = new URL(await cluster.createDatabase())
      url.password = 'secret'
      expect((await refusal(url.href)).message).toContain('the user or the password is wrong')
    })

    test('a missing database is called that', async () => {
      expect((await refusal(cluster.urlOf('nowhere'))).message).toContain('"nowhere"')
      expect((await refusal(cluster.urlOf('nowhere'))).message).toContain('the database does not exist')
    })

    test('a URL that cannot be read is refused without repeating it', async () => {
      const error = await refusal('postgres://svc:secret@host:port/svc')
      expect(error.message).toContain('the database URL cannot be read')
      expect(error.cause).toBeUndefined()
    })
  })
})
