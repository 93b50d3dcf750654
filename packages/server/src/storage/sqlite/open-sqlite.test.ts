import { once } from 'node:events'
import { chmod, copyFile, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { asOrdinaryUser } from '../../testing/ordinary-user.ts'
import { type Storage, StorageUnavailable } from '../storage.ts'
import { backupSqlite } from './backup-sqlite.ts'
import { openSqlite } from './open-sqlite.ts'

let dataDir: string
let opened: Storage | undefined

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-sqlite-'))
})
afterEach(async () => {
  await opened?.close()
  opened = undefined
  await rm(dataDir, { recursive: true })
})

async function openHere(): Promise<Storage> {
  opened = await openSqlite({ dataDir, clock: new FakeClock(), logger: new MemoryLog() })
  return opened
}

const insert = ({ db }: Storage, event: string) =>
  db.insertInto('audit_events').values({ event, detail: '{}', created_at: 1 }).execute()

const countEvents = async ({ db }: Storage) => (await db.selectFrom('audit_events').select('id').execute()).length

describe('sqlite: durability and privacy', () => {
  test('the files of the database are readable for their owner only', async () => {
    await insert(await openHere(), 'login')
    for (const file of ['svc.db', 'svc.db-wal', 'svc.db-shm']) {
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600)
    }
  })

  test.each([
    { pragma: 'journal_mode', value: 'wal', why: 'readers and the writer do not wait for each other' },
    { pragma: 'synchronous', value: 2, why: 'a commit is on the disk before it is acknowledged' },
    { pragma: 'foreign_keys', value: 1, why: 'a row cannot refer to nothing' },
  ])('the writer runs with $pragma = $value: $why', async ({ pragma, value }) => {
    const { db } = await openHere()
    expect((await sql`${sql.raw(`pragma ${pragma}`)}`.execute(db)).rows).toEqual([{ [pragma]: value }])
  })

  test('closing leaves the whole database in the one file', async () => {
    const storage = await openHere()
    await insert(storage, 'login')
    await storage.close()
    await rm(join(dataDir, 'svc.db-wal'), { force: true })
    expect(await countEvents(await openHere())).toBe(1)
  })

  test('a backup needs no running server', async () => {
    const storage = await openHere()
    await insert(storage, 'login')
    await storage.close()
    await backupSqlite(dataDir, join(dataDir, 'copy.db'))
    const copy = new DatabaseSync(join(dataDir, 'copy.db'))
    expect(copy.prepare('select event from audit_events').all()).toEqual([{ event: 'login' }])
    copy.close()
  })
})

describe('sqlite: a crash', () => {
  test('a backup of a database whose server was killed has what only its log held', async () => {
    await insert(await openHere(), 'login')
    const crashed = join(dataDir, 'crashed')
    await mkdir(crashed)
    // What a killed server leaves: the log not yet written into the database, and nobody to do it.
    for (const file of ['svc.db', 'svc.db-wal']) await copyFile(join(dataDir, file), join(crashed, file))
    await backupSqlite(crashed, join(dataDir, 'copy.db'))
    const copy = new DatabaseSync(join(dataDir, 'copy.db'))
    expect(copy.prepare('select event from audit_events').all()).toEqual([{ event: 'login' }])
    copy.close()
  })

  test("when the writer's thread dies, reads and writes are refused and the log says so", async () => {
    const started = once(process, 'worker')
    const log = new MemoryLog()
    opened = await openSqlite({ dataDir, clock: new FakeClock(), logger: log })
    const [worker]: Worker[] = await started
    const transaction = opened.transaction(async (tx) => {
      await worker?.terminate()
      await tx.insertInto('audit_events').values({ event: 'login', detail: '{}', created_at: 1 }).execute()
    })
    await expect(transaction).rejects.toThrow('the database writer stopped unexpectedly')
    await expect(countEvents(opened)).rejects.toThrow('the database writer stopped unexpectedly')
    await expect(insert(opened, 'login')).rejects.toThrow('the database writer stopped unexpectedly')
    expect(log.records).toMatchObject([{ level: 'CRITICAL', message: expect.stringContaining('the database writer') }])
  })
})

describe('sqlite: raw statements that begin or end a transaction', () => {
  test.each(['begin', 'begin immediate', 'savepoint here'])(
    '%s is refused, and no later write is lost',
    async (raw) => {
      const storage = await openHere()
      await expect(sql.raw(raw).execute(storage.db)).rejects.toThrow('only `transaction` of the storage may')
      await insert(storage, 'login')
      expect(await countEvents(storage)).toBe(1)
    },
  )

  test('commit inside a transaction fails that transaction', async () => {
    const storage = await openHere()
    const attempt = storage.transaction(async (tx) => {
      await sql`commit`.execute(tx).catch(() => undefined)
      await tx.insertInto('audit_events').values({ event: 'login', detail: '{}', created_at: 1 }).execute()
    })
    await expect(attempt).rejects.toThrow('it can only be rolled back')
    expect(await countEvents(storage)).toBe(0)
  })
})

describe('sqlite: the main thread', () => {
  test('a commit that has to wait holds up neither the event loop nor reads', async () => {
    const storage = await openHere()
    // Another program has the write lock: SQLite waits for it by putting its thread to sleep.
    const other = new DatabaseSync(join(dataDir, 'svc.db'))
    other.exec('begin immediate')
    let settled = false
    const write = insert(storage, 'login').finally(() => {
      settled = true
    })
    for (let turns = 0; turns < 100; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      expect(await countEvents(storage)).toBe(0)
    }
    expect(settled).toBe(false)
    other.exec('rollback')
    other.close()
    await write
    expect(await countEvents(storage)).toBe(1)
  })

  test('more different statements than are kept prepared all run', async () => {
    const { db } = await openHere()
    for (let limit = 0; limit < 300; limit++) {
      expect(await db.selectFrom('audit_events').select(sql.lit(limit).as('value')).execute()).toEqual([])
      expect((await sql`select ${sql.lit(limit)} as value`.execute(db)).rows).toEqual([{ value: limit }])
    }
  })
})

describe('sqlite: a database that cannot be used', () => {
  const refusal = async () => {
    const error = await openHere().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(StorageUnavailable)
    expect(error).toHaveProperty('cause')
    return String(error)
  }

  test('a missing data directory is named', async () => {
    const folder = dataDir
    dataDir = join(folder, 'missing')
    expect(await refusal()).toContain(`the data directory ${dataDir} does not exist`)
    dataDir = folder
  })

  test('a data directory that is a file is named', async () => {
    const folder = dataDir
    dataDir = join(folder, 'file')
    await writeFile(dataDir, '')
    expect(await refusal()).toContain(`the data directory ${dataDir} is not a directory`)
    dataDir = folder
  })

  test('a data directory that may not be written is named', async () => {
    await chmod(dataDir, 0o555)
    expect(await asOrdinaryUser(refusal)).toContain(`the data directory ${dataDir} is not writable`)
  })

  test('a file that is not a database is named and left alone', async () => {
    const path = join(dataDir, 'svc.db')
    const text = 'Dear diary, '.repeat(1_000)
    await writeFile(path, text)
    expect(await refusal()).toContain(`the database ${path} is not a database`)
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  test('a damaged database is called damaged', async () => {
    await (await openHere()).close()
    const path = join(dataDir, 'svc.db')
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(2_000, 0xff), 0, 2_000, 100) // the schema, after the header
    await file.close()
    expect(await refusal()).toContain(`the database ${path} is damaged`)
  })

  test('a backup of a database that is not there is refused', async () => {
    await expect(backupSqlite(dataDir, join(dataDir, 'copy.db'))).rejects.toThrow(StorageUnavailable)
  })
})
