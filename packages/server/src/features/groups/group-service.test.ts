import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { storageKinds, type TestDatabase, useDatabases } from '../../testing/storages.ts'
import { AccountStore } from '../accounts/account-store.ts'
import { Accounts } from '../accounts/accounts.ts'
import { AccessControl } from '../acl/access-control.ts'
import { AclStore } from '../acl/acl-store.ts'
import { BY_ITSELF } from '../audit/audit-entry.ts'
import { AuditLog } from '../audit/audit-log.ts'
import { AuditStore } from '../audit/audit-store.ts'
import { GroupService } from './group-service.ts'
import { GroupStore } from './group-store.ts'

const WORKSPACE = 'c2a1d0aa-6a1c-4f7e-9d55-000000000001'
const RESOURCE = `/workspaces/${WORKSPACE}` as const

async function start(database: TestDatabase) {
  const clock = new FakeClock()
  const storage = await database.open({ clock })
  const accounts = new Accounts({ storage, store: new AccountStore(), clock })
  const access = new AccessControl({ storage, store: new AclStore() })
  const audit = new AuditLog({ store: new AuditStore(storage), clock, log: new MemoryLog() })
  const groups = new GroupService({ storage, store: new GroupStore(), accounts, access, audit, clock })
  const ann = await storage.transaction((tx) =>
    accounts.create(tx, { email: 'ann@example.com', verified: true, passwordHash: null }),
  )
  const groupsOfAnn = async () => (await accounts.findStanding(ann.id))?.groups.map(({ name }) => name)
  const mayAnn = async () => {
    const standing = await accounts.findStanding(ann.id)
    return standing !== undefined && access.allows(standing, 'terminal', RESOURCE)
  }
  return { storage, accounts, access, groups, ann, groupsOfAnn, mayAnn }
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: groups inside the transactions of other features`, () => {
    const databases = useDatabases(kind)

    test('a role group is made, joined, left and erased together with what it belongs to', async () => {
      const { storage, access, groups, ann, groupsOfAnn, mayAnn } = await start(await databases.create())
      const owners = await storage.transaction(async (tx) => {
        const group = await groups.createRoleGroup(tx, 'owners', WORKSPACE)
        await access.replace(tx, RESOURCE, [
          { action: 'allow', principal: { kind: 'group', id: group.id }, permission: '*' },
        ])
        return group
      })
      expect(owners).toMatchObject({
        name: `owners-${WORKSPACE}`,
        description: `owners of workspace ${WORKSPACE}`,
        source: 'workspace-role',
      })
      expect([await groupsOfAnn(), await mayAnn()]).toEqual([[], false])

      expect(await storage.transaction((tx) => groups.join(tx, owners.id, ann.id))).toBe(true)
      expect(await storage.transaction((tx) => groups.join(tx, owners.id, ann.id))).toBe(false)
      expect([await groupsOfAnn(), await mayAnn()]).toEqual([[owners.name], true])

      expect(await storage.transaction((tx) => groups.leave(tx, owners.id, ann.id))).toBe(true)
      expect(await storage.transaction((tx) => groups.leave(tx, owners.id, ann.id))).toBe(false)
      expect([await groupsOfAnn(), await mayAnn()]).toEqual([[], false])

      await storage.transaction((tx) => groups.join(tx, owners.id, ann.id))
      expect(await mayAnn()).toBe(true)
      await storage.transaction((tx) => groups.erase(tx, owners.id))
      expect([await groupsOfAnn(), await mayAnn(), await access.entriesOn(RESOURCE)]).toEqual([[], false, []])
    })

    test('what is rolled back leaves no group and no membership behind', async () => {
      const { storage, groups, ann, groupsOfAnn } = await start(await databases.create())
      const failing = storage.transaction(async (tx) => {
        const group = await groups.createRoleGroup(tx, 'coders', WORKSPACE)
        await groups.join(tx, group.id, ann.id)
        throw new Error('the engine refused')
      })
      await expect(failing).rejects.toThrow('the engine refused')
      expect(await groupsOfAnn()).toEqual([])
    })

    test('the members of a renamed or deleted group are judged anew', async () => {
      const { groups, accounts, ann, groupsOfAnn } = await start(await databases.create())
      const changed: string[] = []
      accounts.changed.subscribe(({ userId }) => changed.push(userId))
      const { id } = await groups.create(BY_ITSELF, { name: 'designers' })
      await groups.addMember(BY_ITSELF, id, ann.id)
      expect([await groupsOfAnn(), changed.splice(0)]).toEqual([['designers'], [ann.id]])
      await groups.change(BY_ITSELF, id, { description: 'Draw things' })
      expect(changed).toEqual([])
      await groups.change(BY_ITSELF, id, { name: 'artists' })
      expect([await groupsOfAnn(), changed.splice(0)]).toEqual([['artists'], [ann.id]])
      await groups.delete(BY_ITSELF, id)
      expect([await groupsOfAnn(), changed.splice(0)]).toEqual([[], [ann.id]])
    })
  })
}
