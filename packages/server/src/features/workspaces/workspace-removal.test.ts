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

    test('of two at the same time one deletes it and the other does not find it', async () => {
      const { server, removal, caller, request, id } = await open()
      await using _ = server
      const both = await Promise.allSettled([1, 2].map(() => removal.delete(caller, id, request)))
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(await server.audit('workspace.delete')).toHaveLength(1)
    })
  })
}
