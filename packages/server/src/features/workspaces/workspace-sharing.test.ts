import { MAX_ACL_ENTRIES } from '@svc/protocol/acl'
import { groupSharePermissions, userSharePermissions } from '@svc/protocol/roles'
import { systemAgent } from '@svc/protocol/system-agent'
import { describe, expect, test } from 'vitest'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

interface Entry {
  readonly permission: string
  readonly user_id: string | null
  readonly group_id: string | null
}

async function open(server: AccountsServer) {
  const [ann, ben] = [await server.person('ann'), await server.person('ben')]
  const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
  const at = (path: string) => `/workspaces/${id}/${path}`
  const entries = async () => (await succeed(ann.get(at('acl')))).json as Entry[]
  const mine = async (person: Person) => {
    const { permissions } = (await succeed(person.get(`/my-permissions?resource=/workspaces/${id}`))).json as {
      permissions: Record<string, string[]>
    }
    // Every member may make workspaces, and the walk up the tree finds that.
    return (permissions[`/workspaces/${id}`] ?? []).filter((permission) => permission !== 'create-workspace')
  }
  return { ann, ben, id, at, entries, mine }
}

describe('sharing with one person', () => {
  test('gives them the fixed set, behind what is there, and is listed by address', async () => {
    await using server = await startAccounts()
    const { ann, ben, at, entries, mine } = await open(server)
    const before = await entries()
    await server.person('aaron')
    const shared = await succeed(ann.post(at('members'), { email: 'BEN@example.com' }))
    expect(shared.json).toEqual({ status: 'shared', user_id: ben.id, email: 'ben@example.com' })
    await succeed(ann.post(at('members'), { email: 'aaron' }))
    const added = (await entries()).slice(before.length)
    expect(added.filter((entry) => entry.user_id === ben.id).map(({ permission }) => permission)).toEqual(
      userSharePermissions,
    )
    expect((await mine(ben)).toSorted()).toEqual([...userSharePermissions].toSorted())
    expect((await succeed(ann.get(at('members')))).json).toEqual([
      { id: expect.any(String), email: 'aaron@example.com', handle: 'aaron' },
      { id: ben.id, email: 'ben@example.com', handle: 'ben' },
    ])
    expect(await server.audit('workspace.member.add')).toContainEqual({ member: ben.id })
  })

  test('is refused where it means nothing', async () => {
    await using server = await startAccounts()
    const { ann, ben, at } = await open(server)
    const share = async (by: Person, email: string) => {
      const { status, json } = await by.post(at('members'), { email })
      return [status, json]
    }
    expect(await share(ann, 'ann')).toMatchObject([400, { detail: 'Cannot share with yourself' }])
    expect(await share(ann, 'nobody@example.com')).toMatchObject([404, { detail: 'User not found' }])
    expect(await share(ann, 'nobody')).toMatchObject([404, { detail: 'User not found' }])
    for (const agent of [systemAgent.handle, systemAgent.email]) {
      expect(await share(ann, agent)).toMatchObject([400, { detail: 'The system agent cannot be changed' }])
    }
    await succeed(ann.post(at('members'), { email: 'ben' }))
    expect(await share(ann, 'ben')).toMatchObject([409, { detail: 'The workspace is already shared with this user' }])
    await succeed(ann.post(at('roles/owners'), { email: 'ben' }))
    expect(await share(ben, 'ann')).toMatchObject([409, { detail: 'This user owns the workspace' }])
    expect((await ann.post(at('members'), {})).status).toBe(422)
  })

  test('ends with every entry that names them, and may end twice; the owner stays', async () => {
    await using server = await startAccounts()
    const { ann, ben, at, entries, mine } = await open(server)
    await succeed(ann.post(at('members'), { email: 'ben' }))
    const deny = { action: 0, principal_type: 1, user_id: ben.id, permission: 'terminal' }
    await succeed(ann.put(at('acl'), [...(await entries()).map(plain), deny]))
    for (let time = 0; time < 2; time++) {
      expect((await succeed(ann.delete(at(`members/${ben.id}`)))).json).toEqual({ status: 'removed' })
    }
    expect((await entries()).filter((entry) => entry.user_id === ben.id)).toEqual([])
    expect(await mine(ben)).toEqual(['view'])
    expect((await succeed(ann.delete(at(`members/${NOBODY}`)))).json).toEqual({ status: 'removed' })
    const owner = await ann.delete(at(`members/${ann.id}`))
    expect([owner.status, owner.json]).toMatchObject([400, { detail: 'The owner cannot be removed' }])
    expect(await server.audit('workspace.member.remove')).toEqual([{ member: ben.id }])
  })

  test('has an end, because the entries are read for each decision', async () => {
    await using server = await startAccounts()
    const { ann, at, entries } = await open(server)
    const one = plain((await entries())[0])
    await succeed(
      ann.put(
        at('acl'),
        Array.from({ length: MAX_ACL_ENTRIES - 3 }, () => one),
      ),
    )
    const answer = await ann.post(at('members'), { email: 'ben' })
    expect([answer.status, answer.json]).toMatchObject([409, { detail: expect.stringContaining('with a group') }])
  })
})

describe('sharing with a group', () => {
  test('gives its members the fixed set until it ends', async () => {
    await using server = await startAccounts()
    const { ann, ben, id, at, mine } = await open(server)
    const team = field(await succeed(server.admin.post('/groups', { name: 'team' })), 'id')
    await succeed(server.admin.post(`/groups/${team}/members`, { user_id: ben.id }))
    const shared = await succeed(ann.post(at('groups'), { group_id: team }))
    expect(shared.json).toEqual({ status: 'shared', group_id: team, name: 'team' })
    expect((await mine(ben)).toSorted()).toEqual([...groupSharePermissions].toSorted())
    const listed = (await succeed(ann.get(at('groups')))).json as { id: string; name: string }[]
    expect(listed.map(({ name }) => name)).toEqual([
      `owners-${id}`,
      `coders-${id}`,
      `collaborators-${id}`,
      `spectators-${id}`,
      'team',
    ])
    const again = await ann.post(at('groups'), { group_id: team })
    expect([again.status, again.json]).toMatchObject([409, { detail: expect.stringContaining('already shared') }])
    for (let time = 0; time < 2; time++) {
      expect((await succeed(ann.delete(at(`groups/${team}`)))).json).toEqual({ status: 'removed' })
    }
    expect(await mine(ben)).toEqual(['view'])
    expect(await server.audit('workspace.group.add')).toEqual([{ group_id: team }])
    expect(await server.audit('workspace.group.remove')).toEqual([{ group_id: team }])
  })

  test('is refused for a group that is not there, or is a role elsewhere', async () => {
    await using server = await startAccounts()
    const { ann, id, at } = await open(server)
    const other = field(await succeed(ann.post('/workspaces', { name: 'other' })), 'id')
    const foreign = await ann.post(at('groups'), { group_id: await server.groupId(`coders-${other}`) })
    expect([foreign.status, foreign.json]).toMatchObject([
      400,
      { detail: `coders-${other} can be named only on its own workspace` },
    ])
    const missing = await ann.post(at('groups'), { group_id: NOBODY })
    expect([missing.status, missing.json]).toMatchObject([404, { detail: 'Group not found' }])
    const own = await ann.post(at('groups'), { group_id: await server.groupId(`coders-${id}`) })
    expect(own.status).toBe(409)
  })
})

describe('the raw entries', () => {
  test('are read and replaced as a whole, with their audit row', async () => {
    await using server = await startAccounts()
    const { ann, ben, id, at, mine } = await open(server)
    const list = [
      { action: 1, principal_type: 1, user_id: ann.id, permission: '*' },
      { action: 1, principal_type: 0, system_principal: 'Authenticated', permission: 'terminal' },
    ]
    const replaced = (await succeed(ann.put(at('acl'), list))).json
    expect(replaced).toMatchObject([
      { resource: `/workspaces/${id}`, position: 0, user_id: ann.id, permission: '*', principal: 'ann@example.com' },
      { position: 1, system_principal: 'Authenticated', permission: 'terminal' },
    ])
    expect((await succeed(ann.get(at('acl')))).json).toEqual(replaced)
    expect(await mine(ben)).toEqual(['view', 'terminal'])
    expect(await server.audit('acl.replace')).toMatchObject([{ entries: 2 }])
  })

  test('may name neither the system agent nor a role of another workspace', async () => {
    await using server = await startAccounts()
    const { ann, at } = await open(server)
    const other = field(await succeed(ann.post('/workspaces', { name: 'other' })), 'id')
    const foreign = { principal_type: 2, group_id: await server.groupId(`owners-${other}`) }
    for (const principal of [{ principal_type: 1, user_id: systemAgent.id }, foreign]) {
      const answer = await ann.put(at('acl'), [{ action: 1, permission: '*', ...principal }])
      expect(answer.status).toBe(400)
    }
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: sharing at the same time`, () => {
    const databases = useDatabases(kind)

    test('with two people loses neither, and twice with one shares once', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { ann, at } = await open(server)
      await server.person('cat')
      const share = (email: string) => () => ann.post(at('members'), { email })
      const answers = await server.writeInOrder([share('ben'), share('cat'), share('ben')])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409])
      expect((await succeed(ann.get(at('members')))).json).toHaveLength(2)
    })
  })
}

/** An entry as a client writes it. */
function plain(entry: object | undefined): object {
  const { resource: _, position: __, principal: ___, ...rest } = { resource: 0, position: 0, principal: 0, ...entry }
  return rest
}
