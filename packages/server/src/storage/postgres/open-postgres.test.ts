import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { findPostgres, type PostgresCluster, startPostgres } from '../../testing/postgres.ts'
import type { Migration } from '../migrations/migration.ts'
import { type Storage, StorageUnavailable } from '../storage.ts'
import { backupPostgres } from './backup-postgres.ts'
import { openPostgres, type PostgresOptions } from './open-postgres.ts'

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

  async function openAt(url: string, options: Partial<PostgresOptions> = {}): Promise<Storage> {
    const storage = await openPostgres({ url, clock: new FakeClock(), logger: new MemoryLog(), ...options })
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

  test.each([
    { setting: 'synchronous_commit', theirs: 'off', ours: 'on', why: 'a commit is on the disk when acknowledged' },
    {
      setting: 'transaction_isolation',
      theirs: 'repeatable read',
      ours: 'read committed',
      why: 'a transaction that waited for its turn sees what the one before it has written',
    },
  ])('$setting is "$ours" where the default of the server is "$theirs": $why', async ({ setting, theirs, ours }) => {
    const url = await cluster.createDatabase()
    const show = `show ${setting}`
    const client = new Client({ connectionString: url })
    await client.connect()
    expect((await client.query(show)).rows).toEqual([{ [setting]: theirs }])
    await client.end()
    const storage = await openAt(url)
    expect((await sql.raw(show).execute(storage.db)).rows).toEqual([{ [setting]: ours }])
    await storage.transaction(async (tx) => {
      expect((await sql.raw(show).execute(tx)).rows).toEqual([{ [setting]: ours }])
    })
  })

  test('connections that break while idle are logged and replaced', async () => {
    const url = await cluster.createDatabase()
    const log = new MemoryLog()
    const { db } = await openAt(url, { logger: log })
    await sql`select 1`.execute(db)
    await endSessions(url)
    await expect
      .poll(() => log.records)
      .toContainEqual(expect.objectContaining({ level: 'WARNING', message: 'lost a database connection' }))
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

  describe('a server that hangs', () => {
    const limits = { lockMs: 300, statementMs: 800, answerMs: 1_200 }

    /** Stops the process behind a connection: it neither answers nor ends, and keeps its locks. */
    async function stopBackend(db: Storage['db']): Promise<() => void> {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
      const pid = rows[0]?.pid
      if (!pid) throw new Error('the connection has no process')
      process.kill(pid, 'SIGSTOP')
      let stopped = true
      const resume = () => {
        if (stopped) process.kill(pid, 'SIGCONT')
        stopped = false
      }
      onTestFinished(resume)
      return resume
    }

    test('a connection that does not answer fails its query and is not used again', async () => {
      const { db } = await openAt(await cluster.createDatabase(), { limits })
      await stopBackend(db)
      await expect(sql`select 1`.execute(db)).rejects.toThrow('the database did not answer in time')
      expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
    })

    test('a transaction that gets no answer fails, the ones behind it fail while its lock is held, then all goes on', async () => {
      const storage = await openAt(await cluster.createDatabase(), { limits })
      const insert = (event: string) =>
        storage.transaction((tx) =>
          tx.insertInto('audit_events').values({ event, detail: '{}', created_at: 1 }).execute(),
        )
      let resume: (() => void) | undefined
      const hanging = storage.transaction(async (tx) => {
        resume = await stopBackend(tx)
        await tx.insertInto('audit_events').values({ event: 'hanging', detail: '{}', created_at: 1 }).execute()
      })
      const behind = insert('behind')
      const refused = expect(behind).rejects.toThrow(/lock timeout/)
      await expect(hanging).rejects.toThrow('the database did not answer in time')
      await refused
      expect(await storage.db.selectFrom('audit_events').selectAll().execute()).toEqual([])
      resume?.()
      await vi.waitFor(() => insert('after'), { timeout: 15_000 })
      expect(await storage.db.selectFrom('audit_events').select('event').execute()).toEqual([{ event: 'after' }])
    })

    test('a statement that is too slow is ended by the server, and its connection stays in use', async () => {
      const { db } = await openAt(await cluster.createDatabase(), { limits })
      const pid = async () => (await sql`select pg_backend_pid() as pid`.execute(db)).rows
      const before = await pid()
      await expect(sql`select pg_sleep(60)`.execute(db)).rejects.toThrow(/statement timeout/)
      expect(await pid()).toEqual(before)
    })

    test('a step of the schema may take longer than a statement of a running server', async () => {
      const slow: Migration = { number: 1, name: 'slow', statements: ['select pg_sleep(1.5)'] }
      await openAt(await cluster.createDatabase(), { limits, migrations: [slow] })
    })
  })

  test('a missing pg_dump is named', async () => {
    const url = await cluster.createDatabase()
    vi.stubEnv('PATH', '/nonexistent')
    onTestFinished(() => void vi.unstubAllEnvs())
    const path = join(tmpdir(), `svc-${randomUUID()}.backup`)
    await expect(backupPostgres(url, path)).rejects.toThrow(
      'pg_dump was not found: install the PostgreSQL client tools',
    )
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
