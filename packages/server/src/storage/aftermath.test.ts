import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../testing/memory-log.ts'
import { storageKinds, useDatabases } from '../testing/storages.ts'
import { whenCommitted, whenOver } from './aftermath.ts'

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: what follows a transaction`, () => {
    const databases = useDatabases(kind)

    test('memory forgets and others are told after the commit, before the caller goes on', async () => {
      const storage = await (await databases.create()).open()
      const order: string[] = []
      await storage.transaction(async (tx) => {
        whenOver(tx, () => order.push('over'))
        whenCommitted(tx, () => order.push('committed'))
        order.push('work')
      })
      order.push('caller')
      expect(order).toEqual(['work', 'over', 'committed', 'caller'])
    })

    test('memory forgets before anybody is told, and one that fails keeps no other from its turn', async () => {
      const logger = new MemoryLog()
      const storage = await (await databases.create()).open({ logger })
      const order: string[] = []
      const fail = () => {
        throw new Error('cannot follow')
      }
      const answer = await storage.transaction(async (tx) => {
        whenCommitted(tx, fail)
        whenCommitted(tx, () => order.push('told'))
        whenOver(tx, fail)
        whenOver(tx, () => order.push('forgotten'))
        return 'done'
      })
      expect([answer, order]).toEqual(['done', ['forgotten', 'told']])
      expect(logger.records.filter(({ level }) => level === 'ERROR')).toHaveLength(2)
    })

    test('after a rollback memory forgets and nobody is told', async () => {
      const storage = await (await databases.create()).open()
      const order: string[] = []
      const attempt = storage.transaction(async (tx) => {
        whenOver(tx, () => order.push('over'))
        whenCommitted(tx, () => order.push('committed'))
        throw new Error('changed my mind')
      })
      await expect(attempt).rejects.toThrow('changed my mind')
      expect(order).toEqual(['over'])
    })

    test('what follows may use the storage again', async () => {
      const storage = await (await databases.create()).open()
      const read = Promise.withResolvers<unknown>()
      await storage.transaction(async (tx) => {
        whenCommitted(tx, () => read.resolve(storage.db.selectFrom('audit_events').select('id').execute()))
      })
      expect(await read.promise).toEqual([])
    })
  })
}
