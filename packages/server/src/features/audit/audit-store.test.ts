import { describe, expect, test } from 'vitest'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { AuditStore } from './audit-store.ts'

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: audit store`, () => {
    const databases = useDatabases(kind)

    test('no row is seen before one with an earlier id', async () => {
      const storage = await (await databases.create()).open()
      const seen = async () =>
        (await storage.db.selectFrom('audit_events').select('id').orderBy('id').execute()).map(({ id }) => id)
      const written = Promise.withResolvers<void>()
      const finish = Promise.withResolvers<void>()
      const earlier = storage.transaction(async (tx) => {
        await tx.insertInto('audit_events').values({ event: 'earlier', detail: '{}', created_at: 1 }).execute()
        written.resolve()
        await finish.promise
      })
      await written.promise
      const entry = { event: 'app.start', targetType: 'app', targetId: 'svcd', detail: {} } as const
      const later = new AuditStore(storage).insertAlone(entry, 2)
      for (let reads = 0; reads < 50; reads++) expect(await seen()).toEqual([])
      finish.resolve()
      await Promise.all([earlier, later])
      expect(await seen()).toEqual([1, 2])
    })
  })
}
