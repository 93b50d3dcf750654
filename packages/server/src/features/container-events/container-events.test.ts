import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Storage } from '../../storage/storage.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import type { ContainerEventEntry, ContainerEventFilter } from './container-event.ts'
import { ContainerEventStore } from './container-event-store.ts'
import { ContainerEvents } from './container-events.ts'

const DAY_MS = 86_400_000
const ENTRY: ContainerEventEntry = {
  workspaceId: 'w1',
  event: 'start',
  actorId: null,
  cause: 'api',
  containerId: 'c1',
  containerRole: 'workspace',
  networkNamespace: null,
}
const ALL: ContainerEventFilter = { workspace: undefined, workspaceId: undefined }
const PAGE = { limit: 50, offset: 0 }

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: container events`, () => {
    const databases = useDatabases(kind)
    const clock = new FakeClock()
    let storage: Storage
    let events: ContainerEvents
    let retention = { days: 0, rowCap: 0 }

    beforeEach(async () => {
      storage = await (await databases.create()).open()
      retention = { days: 0, rowCap: 0 }
      const store = new ContainerEventStore(storage)
      events = new ContainerEvents({ store, retention: () => retention, clock, log: new MemoryLog() })
    })
    afterEach(() => storage.close())

    async function makeWorkspace(id: string, name: string): Promise<void> {
      const user = { email: `${id}@example.com`, handle: id, verified: 1, provider: 'local', created_at: 0 }
      await storage.db
        .insertInto('users')
        .values({ id: `owner-of-${id}`, ...user })
        .execute()
      const flags = {
        num_ports: 0,
        auto_start: 0,
        per_handle_home: 0,
        setup_state: 'complete',
        egress_mode: 'allow',
      } as const
      const row = { id, owner_id: `owner-of-${id}`, name, created_at: 0, ...flags }
      await storage.transaction((tx) => tx.insertInto('workspaces').values(row).execute())
    }
    const causes = async (filter: Partial<ContainerEventFilter>, page = PAGE) => {
      const { records, total } = await events.list({ ...ALL, ...filter }, page)
      return { causes: records.map(({ cause }) => cause), total }
    }

    test('a row names the workspace and the person as they are now, and neither when they are gone', async () => {
      await makeWorkspace('w1', 'Blue house')
      await events.record({ ...ENTRY, actorId: 'owner-of-w1' })
      await events.record({ ...ENTRY, workspaceId: 'gone', actorId: 'gone', event: 'stop', cause: 'stop' })
      await events.record({ ...ENTRY, cause: 'crash_restart' })
      const { records } = await events.list(ALL, PAGE)
      expect(records).toMatchObject([
        { actorType: 'system', actorId: null, actorEmail: null, workspaceName: 'Blue house' },
        { actorType: 'user', actorId: 'gone', actorEmail: null, workspaceId: 'gone', workspaceName: null },
        {
          actorType: 'user',
          actorEmail: 'w1@example.com',
          workspaceName: 'Blue house',
          createdAt: clock.nowMs() / 1000,
        },
      ])
    })

    test('rows are found by the id of a workspace, or by a part of its name, read to the letter', async () => {
      await makeWorkspace('w1', 'Blue 100% house')
      await makeWorkspace('w2', 'Green house')
      await events.record({ ...ENTRY, workspaceId: 'w1', cause: 'api' })
      await events.record({ ...ENTRY, workspaceId: 'w2', cause: 'create' })
      await events.record({ ...ENTRY, workspaceId: 'w3', cause: 'ws_connect' })
      expect(await causes({ workspaceId: 'w3' })).toEqual({ causes: ['ws_connect'], total: 1 })
      expect(await causes({ workspace: 'w2' })).toEqual({ causes: ['create'], total: 1 })
      expect(await causes({ workspace: 'HOUSE' })).toEqual({ causes: ['create', 'api'], total: 2 })
      expect(await causes({ workspace: '0%' })).toEqual({ causes: ['api'], total: 1 })
      expect(await causes({ workspace: '%' })).toEqual({ causes: ['api'], total: 1 })
      expect(await causes({ workspace: 'Blue', workspaceId: 'w2' })).toEqual({ causes: ['api'], total: 1 })
      expect(await causes({ workspace: '', workspaceId: '' })).toMatchObject({ total: 3 })
      expect(await causes({ workspace: 'house' }, { limit: 1, offset: 1 })).toEqual({ causes: ['api'], total: 2 })
    })

    test('rows that are too old go, then the oldest of those that are too many', async () => {
      for (let day = 0; day < 5; day++) {
        await events.record({ ...ENTRY, workspaceId: `day ${day}` })
        clock.advance(DAY_MS)
      }
      const left = async () => (await events.list(ALL, PAGE)).records.map(({ workspaceId }) => workspaceId)
      await events.prune()
      expect(await left()).toHaveLength(5)
      retention = { days: 3, rowCap: 0 }
      await events.prune()
      expect(await left()).toEqual(['day 4', 'day 3', 'day 2'])
      retention = { days: 0, rowCap: 2 }
      await events.prune()
      expect(await left()).toEqual(['day 4', 'day 3'])
    })

    test('a great many are removed in pieces', async () => {
      const row = {
        workspace_id: 'w',
        event: 'start',
        actor_type: 'system',
        cause: 'api',
        container_role: 'workspace',
      } as const
      const rows = Array.from({ length: 1234 }, (_, index) => ({ ...row, created_at: index }))
      for (let at = 0; at < rows.length; at += 400) {
        const some = rows.slice(at, at + 400)
        await storage.transaction((tx) => tx.insertInto('container_events').values(some).execute())
      }
      retention = { days: 0, rowCap: 100 }
      await events.prune()
      const { records, total } = await events.list(ALL, PAGE)
      expect([total, records[0]?.createdAt]).toEqual([100, 1233])
    })
  })
}
