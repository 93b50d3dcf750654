import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { type Storage, StorageUnavailable } from '../storage.ts'
import { allMigrations } from './all-migrations.ts'
import { nextMigration } from './migrate.ts'
import { digestOf, type Migration, statementsFor } from './migration.ts'

const fruits: Migration = { number: 1, name: 'fruits', statements: ['create table fruits (id {identity}) {strict}'] }
const colours: Migration = { number: 2, name: 'colours', statements: ['create table colours (id {identity}) {strict}'] }
const seeds: Migration = { number: 3, name: 'seeds', statements: ['insert into fruits default values'] }

const record = (migration: Migration) => ({
  number: migration.number,
  name: migration.name,
  digest: digestOf(migration, 'sqlite'),
  applied_at: 0,
})

const numbers = async ({ db }: Storage) =>
  (await db.selectFrom('migrations').select('number').orderBy('number').execute()).map(({ number }) => number)

test('the steps of the program are numbered without a gap, and every word in them has a translation', () => {
  expect(allMigrations.map(({ number }) => number)).toEqual(allMigrations.map((_, index) => index + 1))
  for (const migration of allMigrations) {
    for (const dialect of ['sqlite', 'postgres'] as const) {
      expect(statementsFor(migration, dialect).join()).not.toMatch(/[{}]/)
    }
  }
})

test('a word without a translation is refused', () => {
  const misspelt: Migration = { number: 1, name: 'misspelt', statements: ['create table t (id {identty})'] }
  expect(() => statementsFor(misspelt, 'sqlite')).toThrow('{identty}')
})

test('the next step is the first that is not applied', () => {
  expect(nextMigration([], [fruits, colours], 'sqlite')).toBe(fruits)
  expect(nextMigration([record(fruits)], [fruits, colours], 'sqlite')).toBe(colours)
  expect(nextMigration([record(fruits), record(colours)], [fruits, colours], 'sqlite')).toBeUndefined()
})

test.each([
  { why: 'is newer than the program', applied: [fruits, colours], known: [fruits], says: /version 2.*knows only 1/ },
  {
    why: 'lacks a step',
    applied: [fruits, seeds],
    known: [fruits, colours, seeds],
    says: /without step 2 \(colours\)/,
  },
  {
    why: 'has a step of another name',
    applied: [{ ...fruits, name: 'apples' }],
    known: [fruits],
    says: /\(fruits\) is not the one.*\(apples\)/,
  },
  {
    why: 'has a step with other statements',
    applied: [{ ...fruits, statements: ['create table fruits (id {integer})'] }],
    known: [fruits],
    says: /step 1 .* is not the one/,
  },
])('a database that $why is refused', ({ applied, known, says }) => {
  const attempt = () => nextMigration(applied.map(record), known, 'sqlite')
  expect(attempt).toThrow(StorageUnavailable)
  expect(attempt).toThrow(says)
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: migrations`, () => {
    const databases = useDatabases(kind)

    test('a new database gets every step once, with the time it was applied', async () => {
      const database = await databases.create()
      const clock = new FakeClock(5_000)
      await (await database.open({ clock, migrations: [fruits] })).close()
      clock.advance(2_500)
      const storage = await database.open({ clock, migrations: [fruits, colours] })
      expect(await storage.db.selectFrom('migrations').select(['number', 'name', 'applied_at']).execute()).toEqual([
        { number: 1, name: 'fruits', applied_at: 5 },
        { number: 2, name: 'colours', applied_at: 7.5 },
      ])
    })

    test('a step that fails in the middle leaves the version before it, and can be repeated once it is mended', async () => {
      const database = await databases.create()
      const broken: Migration = { ...colours, statements: [...colours.statements, 'insert into nowhere values (1)'] }
      const attempt = database.open({ migrations: [fruits, broken] })
      await expect(attempt).rejects.toThrow(StorageUnavailable)
      await expect(attempt).rejects.toThrow(/step 2 of the schema \(colours\) failed.*stays at version 1/)

      const before = await database.open({ migrations: [fruits] })
      expect(await numbers(before)).toEqual([1])
      await expect(sql`insert into colours default values`.execute(before.db)).rejects.toThrow(/colours/)
      await before.close()

      const after = await database.open({ migrations: [fruits, colours] })
      expect(await numbers(after)).toEqual([1, 2])
      await sql`insert into colours default values`.execute(after.db)
    })

    test('a database that a newer program has upgraded is refused and stays as it is', async () => {
      const database = await databases.create()
      await (await database.open({ migrations: [fruits, colours] })).close()
      await expect(database.open({ migrations: [fruits] })).rejects.toThrow(/start the newer program/)
      expect(await numbers(await database.open({ migrations: [fruits, colours] }))).toEqual([1, 2])
    })

    // PostgreSQL runs all statements of a text, so only SQLite has to refuse it, and there every step is tried first.
    if (kind.name === 'sqlite') {
      test('a step with two statements in one text is refused and not recorded', async () => {
        const database = await databases.create()
        const both: Migration = { ...fruits, statements: [[...fruits.statements, ...colours.statements].join(';')] }
        await expect(database.open({ migrations: [both] })).rejects.toThrow(/step 1 .* failed.*more than one statement/)
        expect(await numbers(await database.open({ migrations: [] }))).toEqual([])
      })
    }

    test('servers that start together do each step once', async () => {
      const database = await databases.create()
      const migrations = [fruits, colours, seeds]
      const storages = await Promise.all(Array.from({ length: 4 }, () => database.open({ migrations })))
      const [storage] = storages
      if (!storage) throw new Error('no storage was opened')
      expect(await numbers(storage)).toEqual([1, 2, 3])
      expect((await sql`select id from fruits`.execute(storage.db)).rows).toHaveLength(1)
    })
  })
}
