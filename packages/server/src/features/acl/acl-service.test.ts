import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { BY_ITSELF } from '../audit/audit-entry.ts'
import { AuditLog } from '../audit/audit-log.ts'
import { AuditStore } from '../audit/audit-store.ts'
import { AccessControl } from './access-control.ts'
import { AclService } from './acl-service.ts'
import { AclStore } from './acl-store.ts'
import type { AclEntry } from './entry.ts'
import { PrincipalStore } from './principal-store.ts'
import type { ResourcePath } from './resource-path.ts'

const ownerRow = (id: string): AclEntry => ({ action: 'allow', principal: { kind: 'group', id }, permission: '*' })

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: rewriting entries`, () => {
    const databases = useDatabases(kind)

    test('of rewrites at the same time one stands as a whole, never a mixture, and memory knows which', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { admin } = server
      const list = (permission: string, length: number) =>
        Array.from({ length }, () => ({ action: 1, principal_type: 1, user_id: admin.id, permission }))
      const path = '/acl/resource?resource=/images'
      const wordsIn = (json: unknown) => (json as { permission: string }[]).map(({ permission }) => permission)
      const mine = async () => (await succeed(admin.get('/my-permissions?resource=/images'))).text
      for (let round = 0; round < 12; round++) {
        const all = [list('view', 40), list('terminal', 7), list('view-images', 0), list('*', 20)]
        const lists = [...all.slice(round % 4), ...all.slice(0, round % 4)] // another one is the last each time
        const [answers] = await Promise.all([
          Promise.all(lists.map((entries) => succeed(admin.put(path, entries)))),
          Promise.all(lists.map(mine)), // so that memory is filled in between
        ])
        expect(answers.map(({ json }) => wordsIn(json))).toEqual(lists.map(wordsIn))
        const stored = wordsIn((await admin.get(path)).json)
        expect(lists.map(wordsIn)).toContainEqual(stored)
        const grantsTerminal = stored.some((permission) => permission === 'terminal' || permission === '*')
        expect((await mine()).includes('"terminal"')).toBe(grantsTerminal)
      }
      expect(await server.audit('acl.replace')).toHaveLength(48)
    })

    /** The service on a database with the role group of one workspace, without anything around it. */
    async function open() {
      const storage = await (await databases.create()).open()
      const store = new AclStore()
      const access = new AccessControl({ storage, store })
      const audit = new AuditLog({ store: new AuditStore(storage), clock: new FakeClock(), log: new MemoryLog() })
      const acl = new AclService({
        storage,
        store,
        principals: new PrincipalStore(),
        access,
        audit,
        adminGroup: 'admins',
      })
      const owners = randomUUID()
      const row = { id: owners, name: 'owners-w', description: null, source: 'workspace-role' as const, created_at: 1 }
      await storage.transaction((tx) => tx.insertInto('user_groups').values(row).execute())
      const announced: string[] = []
      access.changed.subscribe(({ resource }) => announced.push(resource))
      const replace = (resource: ResourcePath, entries: AclEntry[]) =>
        storage.transaction((tx) => {
          const target = { targetType: 'workspace', targetId: 'w' } as const
          return acl.replaceWithin(tx, BY_ITSELF, { resource, entries, target })
        })
      return { storage, access, owners, announced, replace }
    }

    test('another feature can rewrite within its own transaction, by the same rules and under its own name', async () => {
      const { storage, owners, replace } = await open()
      expect(await replace('/workspaces/w', [ownerRow(owners)])).toEqual([
        { ...ownerRow(owners), principalName: 'owners-w' },
      ])
      await expect(replace('/workspaces/x', [ownerRow(owners)])).rejects.toThrow('only on its own workspace')
      const rows = await storage.db.selectFrom('audit_events').select(['event', 'target_type', 'target_id']).execute()
      expect(rows).toEqual([{ event: 'acl.replace', target_type: 'workspace', target_id: 'w' }])
    })

    test('a change is announced once it is durable, and a refused one never', async () => {
      const { access, owners, announced, replace } = await open()
      const owner = { userId: 'somebody', groupIds: new Set([owners]) }
      expect(await access.allows(owner, 'terminal', '/workspaces/w')).toBe(false)
      await replace('/workspaces/w', [ownerRow(owners)])
      expect(announced).toEqual(['/workspaces/w'])
      expect(await access.allows(owner, 'terminal', '/workspaces/w')).toBe(true)
      await expect(replace('/workspaces/x', [ownerRow(owners)])).rejects.toThrow()
      await expect(replace('/', [])).rejects.toThrow('/ must keep')
      await expect(replace('/acl', [])).rejects.toThrow('must keep manage-acls on /acl')
      expect(announced).toEqual(['/workspaces/w'])
      await replace('/workspaces/w', [])
      expect(await access.allows(owner, 'terminal', '/workspaces/w')).toBe(false)
    })
  })
}
