import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { storageKinds, useDatabases } from '../testing/storages.ts'
import { BackupFailed, type Storage } from './storage.ts'

const insert = ({ db }: Storage, event: string) =>
  db.insertInto('audit_events').values({ event, detail: '{"ä":"ü"}', created_at: 1.5 }).execute()

const allRows = ({ db }: Storage) => db.selectFrom('audit_events').selectAll().orderBy('id').execute()

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: backup`, () => {
    const databases = useDatabases(kind)

    test('a restored backup has every row, and goes on counting where the original was', async () => {
      const database = await databases.create()
      const storage = await database.open()
      for (const event of ['one', 'two', 'deleted']) await insert(storage, event)
      await storage.db.deleteFrom('audit_events').where('event', '=', 'deleted').execute()
      const path = join(await databases.folder(), 'backup')
      await database.backup(path)

      const restored = await (await databases.restore(path)).open()
      expect(await allRows(restored)).toEqual(await allRows(storage))
      await insert(restored, 'new')
      expect((await allRows(restored)).at(-1)).toMatchObject({ id: 4, event: 'new' })
    })

    test('a backup taken during writes has all that was acknowledged before, and no half of a transaction', async () => {
      const database = await databases.create()
      const storage = await database.open()
      for (let count = 0; count < 50; count++) await insert(storage, `before ${count}`)
      let done = false
      let pairs = 0
      const writing = (async () => {
        for (; !done; pairs++) {
          await storage.transaction(async (tx) => {
            const values = { event: `pair ${pairs}`, detail: '{}', created_at: 1 }
            await tx.insertInto('audit_events').values(values).execute()
            await tx.insertInto('audit_events').values(values).execute()
          })
        }
      })()
      const path = join(await databases.folder(), 'backup')
      await database.backup(path)
      done = true
      await writing
      expect(pairs).toBeGreaterThan(0)

      const events = (await allRows(await (await databases.restore(path)).open())).map(({ event }) => event)
      expect(events.filter((event) => event.startsWith('before'))).toHaveLength(50)
      const copied = events.filter((event) => event.startsWith('pair'))
      expect(copied).toHaveLength(new Set(copied).size * 2)
    })

    test('a backup is readable for its owner only, and nothing else is left beside it', async () => {
      const database = await databases.create()
      await database.open()
      const folder = await databases.folder()
      await database.backup(join(folder, 'backup'))
      expect((await stat(join(folder, 'backup'))).mode & 0o777).toBe(0o600)
      expect(await readdir(folder)).toEqual(['backup'])
    })

    test('a backup never overwrites a file', async () => {
      const database = await databases.create()
      await database.open()
      const folder = await databases.folder()
      const path = join(folder, 'backup')
      await writeFile(path, 'precious')
      await expect(database.backup(path)).rejects.toThrow(BackupFailed)
      await expect(database.backup(path)).rejects.toThrow(/already exists/)
      expect(await readFile(path, 'utf8')).toBe('precious')
      expect(await readdir(folder)).toEqual(['backup'])
    })

    test('a backup that cannot be written says where, and leaves nothing', async () => {
      const database = await databases.create()
      await database.open()
      const folder = await databases.folder()
      await mkdir(join(folder, 'existing'))
      const path = join(folder, 'missing', 'backup')
      await expect(database.backup(path)).rejects.toThrow(`could not write the backup to ${path}`)
      expect(await readdir(folder)).toEqual(['existing'])
    })
  })
}
