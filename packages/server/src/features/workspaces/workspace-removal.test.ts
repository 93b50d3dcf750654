import { describe, expect, test } from 'vitest'
import { startAccounts } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { callerFor, requestFacts, workspaceParts } from '../../testing/workspace-parts.ts'

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: deleting a workspace`, () => {
    const databases = useDatabases(kind)

    async function open() {
      const server = await startAccounts({ database: await databases.create() })
      const parts = await workspaceParts(server)
      const ann = await server.person('ann')
      const caller = await callerFor(server, ann)
      const request = requestFacts(server)
      const { id } = await parts.operations.create(caller, { name: 'demo' }, request)
      const left = async (table: 'workspaces' | 'acl_entries' | 'user_groups' | 'abandoned_homes') =>
        JSON.stringify(await server.storage.db.selectFrom(table).selectAll().execute()).includes(id)
      return { server, ...parts, caller, request, id, left }
    }

    test('stops it, takes its rows, groups and entries away, and then its files', async () => {
      const { server, removal, caller, request, id, asked, background, workspaces, left } = await open()
      await using _ = server
      const entry = { position: 0, action: 'allow', principal_kind: 'everyone', permission: 'view' } as const
      const below = { ...entry, resource: `/workspaces/${id}/files`, user_id: null, group_id: null }
      await server.storage.db.insertInto('acl_entries').values(below).execute()
      expect([await left('workspaces'), await left('acl_entries'), await left('user_groups')]).toEqual([
        true,
        true,
        true,
      ])
      const news: unknown[] = []
      workspaces.changed.subscribe((item) => news.push(item))

      await removal.delete(caller, id, request)
      expect([await left('workspaces'), await left('acl_entries'), await left('user_groups')]).toEqual([
        false,
        false,
        false,
      ])
      await background.settled()
      expect(asked).toEqual([`stop ${id} delete`, `remove ${id}`])
      expect(await left('abandoned_homes')).toBe(false)
      expect(news).toEqual([{ workspaceId: id, userIds: [caller.userId] }])
      expect(await server.audit('workspace.delete')).toEqual([{ name: 'demo', owner_id: caller.userId }])
      await expect(removal.delete(caller, id, request)).rejects.toThrow('Workspace not found')
    })

    test('a workspace that cannot be stopped stays as it is', async () => {
      const { server, removal, caller, request, id, failing, left } = await open()
      await using _ = server
      failing.add(`stop ${id} delete`)
      await expect(removal.delete(caller, id, request)).rejects.toThrow(`stop ${id} delete failed`)
      expect(await left('workspaces')).toBe(true)
      expect(await server.audit('workspace.delete')).toEqual([])
    })

    test('files that could not be removed are removed when the server starts again', async () => {
      const { server, removal, caller, request, id, failing, asked, background, left } = await open()
      await using _ = server
      failing.add(`remove ${id}`)
      await removal.delete(caller, id, request)
      await background.settled()
      expect([await left('workspaces'), await left('abandoned_homes')]).toEqual([false, true])

      failing.clear()
      asked.length = 0
      await removal.begin()
      await background.settled()
      expect(asked).toEqual([`remove ${id}`])
      expect(await left('abandoned_homes')).toBe(false)
      await removal.begin()
      await background.settled()
      expect(asked).toHaveLength(1)
    })

    async function openDeparting() {
      const { server, operations, removal, caller, request, id, ...parts } = await open()
      server.clock.advance(1000) // the oldest goes first
      const later = (await operations.create(caller, { name: 'later' }, request)).id
      const admin = await callerFor(server, server.admin)
      const depart = () => removal.deleteAllOf(caller.userId, { actor: admin, request })
      const steps = (workspaceId: string, name: string) => [
        `archive ${workspaceId} about ${name}`,
        `remove ${workspaceId}`,
      ]
      return { server, removal, depart, first: steps(id, 'demo'), second: steps(later, 'later'), id, later, ...parts }
    }

    test('nobody waits for the archives of a departing owner, which are made one at a time', async () => {
      const { server, depart, first, second, asked, onAsked, background, left, id, later } = await openDeparting()
      await using _ = server
      const slow = Promise.withResolvers<void>()
      onAsked.set(first[0] ?? '', () => slow.promise)
      await depart()
      expect([await left('workspaces'), await left('abandoned_homes')]).toEqual([false, true])
      expect(asked.filter((what) => !what.startsWith('stop'))).toEqual(first.slice(0, 1))
      slow.resolve()
      await background.settled()
      const stops = [id, later].map((workspaceId) => `stop ${workspaceId} logout`)
      expect(asked.toSorted()).toEqual([...stops, ...first, ...second].toSorted())
      expect(asked.indexOf(first[0] ?? '')).toBeLessThan(asked.indexOf(first[1] ?? ''))
      expect(asked.indexOf(second[0] ?? '')).toBeLessThan(asked.indexOf(second[1] ?? ''))
      expect(await left('abandoned_homes')).toBe(false)
    })

    test('a home that could not be archived stays, holds no other up, and is tried again at the next start', async () => {
      const { server, removal, depart, first, second, asked, failing, background, left, id } = await openDeparting()
      await using _ = server
      failing.add(first[0] ?? '')
      await depart()
      await background.settled()
      expect(asked).not.toContain(first[1])
      expect(asked).toContain(second[1])
      expect(await left('abandoned_homes')).toBe(true)
      expect(server.log.records.some(({ level, message }) => level === 'ERROR' && message.includes(id))).toBe(true)

      failing.clear()
      asked.length = 0
      await removal.begin()
      await background.settled()
      expect(asked).toEqual(first)
      expect(await left('abandoned_homes')).toBe(false)
    })

    test('a home that was archived is not archived again when its removal failed', async () => {
      const { server, removal, depart, first, asked, failing, background } = await openDeparting()
      await using _ = server
      failing.add(first[1] ?? '')
      await depart()
      await background.settled()
      failing.clear()
      asked.length = 0
      await removal.begin()
      await background.settled()
      expect(asked).toEqual(first.slice(1))
    })

    test('when the server ends, archives are not begun any more, and their homes stay for the next start', async () => {
      const { server, removal, depart, first, second, asked, onAsked, failing, background, left } =
        await openDeparting()
      await using _ = server
      onAsked.set(first[0] ?? '', async () => removal.end())
      failing.add(first[0] ?? '') // as one that is broken off does
      await depart()
      await background.settled()
      expect(asked).not.toContain(first[1])
      expect(asked).not.toContain(second[0])
      expect(await left('abandoned_homes')).toBe(true)
      expect(server.log.records.filter(({ level }) => level === 'ERROR')).toEqual([])
    })

    test('of two at the same time one deletes it and the other does not find it', async () => {
      const { server, removal, caller, request, id } = await open()
      await using _ = server
      const both = await Promise.allSettled([1, 2].map(() => removal.delete(caller, id, request)))
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(await server.audit('workspace.delete')).toHaveLength(1)
    })
  })
}
