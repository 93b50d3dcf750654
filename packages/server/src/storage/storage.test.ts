import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { storageKinds, useDatabases } from '../testing/storages.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import type { Migration } from './migrations/migration.ts'
import type { Storage } from './storage.ts'
import { isUniqueViolation } from './unique-violation.ts'

const row = (event: string) => ({ event, detail: '{}', created_at: 1_700_000_000.25 })

const events = async ({ db }: Pick<Storage, 'db'>) =>
  (await db.selectFrom('audit_events').select('event').orderBy('id').execute()).map(({ event }) => event)

const parentsAndChildren: Migration = {
  number: allMigrations.length + 1,
  name: 'parents-and-children',
  statements: [
    'create table parents (id {integer} primary key, email text not null unique) {strict}',
    'create table children (id {identity}, parent_id {integer} not null references parents (id)) {strict}',
  ],
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: storage`, () => {
    const databases = useDatabases(kind)
    const openNew = async () => (await databases.create()).open()
    const openWithParents = async () =>
      (await databases.create()).open({ migrations: [...allMigrations, parentsAndChildren] })

    test('a row comes back as it was written, with a number for its id', async () => {
      const { db } = await openNew()
      const { id } = await db.insertInto('audit_events').values(row('login')).returning('id').executeTakeFirstOrThrow()
      expect(id).toBe(1)
      expect(await db.selectFrom('audit_events').selectAll().execute()).toEqual([
        {
          id: 1,
          event: 'login',
          actor_id: null,
          actor_email: null,
          target_type: null,
          target_id: null,
          detail: '{}',
          source_ip: null,
          user_agent: null,
          method: null,
          referer: null,
          created_at: 1_700_000_000.25,
        },
      ])
    })

    test('a count, a sum and an average are numbers', async () => {
      const { db } = await openNew()
      await db
        .insertInto('audit_events')
        .values([row('one'), row('two')])
        .execute()
      const counted = await db
        .selectFrom('audit_events')
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.sum<number>('id').as('sum'),
          fn.avg<number>('id').as('average'),
        ])
        .execute()
      expect(counted).toEqual([{ count: 2, sum: 3, average: 1.5 }])
    })

    test('a number that would lose digits is refused', async () => {
      const { db } = await openNew()
      const exact = Number.MAX_SAFE_INTEGER
      expect((await sql`select ${sql.lit(exact)} as value`.execute(db)).rows).toEqual([{ value: exact }])
      await expect(sql`select 9007199254740993 as value`.execute(db)).rejects.toThrow(/9007199254740993/)
      await expect(sql`select -9007199254740993 as value`.execute(db)).rejects.toThrow(/9007199254740993/)
    })

    test('a delete says how many rows it took', async () => {
      const { db } = await openNew()
      await db
        .insertInto('audit_events')
        .values([row('one'), row('two')])
        .execute()
      expect(await db.deleteFrom('audit_events').executeTakeFirst()).toMatchObject({ numDeletedRows: 2n })
    })

    test('the id of a deleted newest row is never given out again', async () => {
      const { db } = await openNew()
      const insert = () => db.insertInto('audit_events').values(row('login')).returning('id').executeTakeFirstOrThrow()
      const first = await insert()
      await db.deleteFrom('audit_events').execute()
      expect((await insert()).id).toBe(first.id + 1)
    })

    test('an audit event cannot be changed once it is written', async () => {
      const { db } = await openNew()
      await db.insertInto('audit_events').values(row('login')).execute()
      await expect(sql`update audit_events set event = 'nothing'`.execute(db)).rejects.toThrow(/append-only/)
    })

    test('a transaction that resolves is there, with all its rows and its answer', async () => {
      const storage = await openNew()
      const answer = await storage.transaction(async (tx) => {
        await tx.insertInto('audit_events').values(row('one')).execute()
        await tx.insertInto('audit_events').values(row('two')).execute()
        return 'done'
      })
      expect(answer).toBe('done')
      expect(await events(storage)).toEqual(['one', 'two'])
    })

    test('a transaction that throws leaves nothing behind, and its error reaches the caller', async () => {
      const storage = await openNew()
      const failure = new Error('the engine refused')
      const attempt = storage.transaction(async (tx) => {
        await tx.insertInto('audit_events').values(row('one')).execute()
        throw failure
      })
      await expect(attempt).rejects.toBe(failure)
      expect(await events(storage)).toEqual([])
      await storage.db.insertInto('audit_events').values(row('next')).execute()
      expect(await events(storage)).toEqual(['next'])
    })

    test('a read outside does not see an open transaction, a read inside does', async () => {
      const storage = await openNew()
      const written = Promise.withResolvers<void>()
      const finish = Promise.withResolvers<void>()
      const transaction = storage.transaction(async (tx) => {
        await tx.insertInto('audit_events').values(row('one')).execute()
        expect(await events({ db: tx })).toEqual(['one'])
        written.resolve()
        await finish.promise
      })
      await written.promise
      expect(await events(storage)).toEqual([])
      finish.resolve()
      await transaction
      expect(await events(storage)).toEqual(['one'])
    })

    test('transactions that count before they insert cannot overrun a limit together', async () => {
      const storage = await openNew()
      const insertBelowThree = () =>
        storage.transaction(async (tx) => {
          if ((await events({ db: tx })).length < 3) await tx.insertInto('audit_events').values(row('slot')).execute()
        })
      await Promise.all(Array.from({ length: 20 }, insertBelowThree))
      expect(await events(storage)).toEqual(['slot', 'slot', 'slot'])
    })

    test('two servers on one database run their transactions one after the other', async () => {
      const database = await databases.create()
      const storages = [await database.open(), await database.open()]
      const insertBelowThree = (storage: Storage) =>
        storage.transaction(async (tx) => {
          if ((await events({ db: tx })).length < 3) await tx.insertInto('audit_events').values(row('slot')).execute()
        })
      await Promise.all(Array.from({ length: 10 }, () => storages.map(insertBelowThree)).flat())
      for (const storage of storages) expect(await events(storage)).toEqual(['slot', 'slot', 'slot'])
    })

    test('of 200 concurrent writers every one succeeds and finds its own row at once', async () => {
      const storage = await openNew()
      const write = async (number: number) => {
        const event = `event ${number}`
        if (number % 2) await storage.db.insertInto('audit_events').values(row(event)).execute()
        else await storage.transaction((tx) => tx.insertInto('audit_events').values(row(event)).execute())
        const found = storage.db.selectFrom('audit_events').select('event').where('event', '=', event)
        expect(await found.execute()).toHaveLength(1)
      }
      await Promise.all(Array.from({ length: 200 }, (_, number) => write(number)))
      expect(await events(storage)).toHaveLength(200)
    })

    test('reads go on while a transaction holds all other writers', async () => {
      const storage = await openNew()
      const finish = Promise.withResolvers<void>()
      const holder = storage.transaction(() => finish.promise)
      const waiting = Array.from({ length: 30 }, () =>
        storage.transaction((tx) => tx.insertInto('audit_events').values(row('waited')).execute()),
      )
      for (let reads = 0; reads < 30; reads++) expect(await events(storage)).toEqual([])
      finish.resolve()
      await Promise.all([holder, ...waiting])
      expect(await events(storage)).toHaveLength(30)
    })

    test('a duplicate is recognised as one, and other errors are not', async () => {
      const { db } = await openWithParents()
      const insert = (id: number, email: string) => sql`insert into parents values (${id}, ${email})`.execute(db)
      await insert(1, 'a@example.org')
      expect(await insert(2, 'a@example.org').catch(isUniqueViolation)).toBe(true)
      expect(await insert(1, 'b@example.org').catch(isUniqueViolation)).toBe(true)
      expect(await sql`insert into nowhere values (1)`.execute(db).catch(isUniqueViolation)).toBe(false)
      expect(await sql`insert into parents values (3, null)`.execute(db).catch(isUniqueViolation)).toBe(false)
    })

    test('a row cannot refer to one that does not exist', async () => {
      const { db } = await openWithParents()
      await expect(sql`insert into children (parent_id) values (1)`.execute(db)).rejects.toThrow(/foreign key/i)
    })

    test('a value of the wrong type is refused', async () => {
      const { db } = await openWithParents()
      await expect(sql`insert into children (parent_id) values ('one')`.execute(db)).rejects.toThrow(/integer|bigint/i)
    })

    test('a transaction whose statement failed can only roll back, even if the error was swallowed', async () => {
      const storage = await openNew()
      const attempt = storage.transaction(async (tx) => {
        await tx.insertInto('audit_events').values(row('one')).execute()
        await sql`insert into nowhere values (1)`.execute(tx).catch(() => undefined)
        await expect(tx.insertInto('audit_events').values(row('two')).execute()).rejects.toThrow(/transaction/)
      })
      await expect(attempt).rejects.toThrow(/transaction|ROLLBACK/i)
      expect(await events(storage)).toEqual([])
      await storage.transaction((tx) => tx.insertInto('audit_events').values(row('next')).execute())
      expect(await events(storage)).toEqual(['next'])
    })

    test.each(['read', 'write', 'transaction'] as const)(
      'a %s outside the open transaction, asked from inside it, is refused instead of waiting for ever',
      async (what) => {
        const storage = await openNew()
        const asks = {
          read: () => events(storage),
          write: () => storage.db.insertInto('audit_events').values(row('outside')).execute(),
          transaction: () => storage.transaction(async () => undefined),
        }
        await expect(storage.transaction(async () => void (await asks[what]()))).rejects.toThrow(/use the handle/)
        await asks[what]()
      },
    )

    test('what a transaction leaves running may use the storage once it has ended', async () => {
      const storage = await openNew()
      const ended = Promise.withResolvers<void>()
      let later: Promise<string[]> | undefined
      await storage.transaction(async () => {
        later = ended.promise.then(() => events(storage))
      })
      ended.resolve()
      expect(await later).toEqual([])
    })

    test('closing lets the running transaction finish and refuses the ones behind it', async () => {
      const database = await databases.create()
      const storage = await database.open()
      const begun = Promise.withResolvers<void>()
      const finish = Promise.withResolvers<void>()
      const running = storage.transaction(async (tx) => {
        begun.resolve()
        await finish.promise
        await tx.insertInto('audit_events').values(row('running')).execute()
      })
      await begun.promise
      const waiting = storage.transaction((tx) => tx.insertInto('audit_events').values(row('waiting')).execute())
      const refused = expect(waiting).rejects.toThrow('the storage is closed')
      const closed = storage.close()
      finish.resolve()
      await Promise.all([running, refused, closed])
      expect(await events(await database.open())).toEqual(['running'])
    })

    test('a closed storage refuses everything with a clear error, and may be closed again', async () => {
      const storage = await openNew()
      await storage.close()
      await expect(events(storage)).rejects.toThrow('the storage is closed')
      await expect(storage.db.deleteFrom('audit_events').execute()).rejects.toThrow('the storage is closed')
      await expect(storage.transaction(async () => undefined)).rejects.toThrow('the storage is closed')
      await storage.close()
    })
  })
}
