import { permissions } from '@svc/protocol/permissions'
import { rolePermissions, roles } from '@svc/protocol/roles'
import { systemAgent } from '@svc/protocol/system-agent'
import { describe, expect, test } from 'vitest'
import { type AccountsServer, field, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { permissionsOfGroup } from './workspace-roles.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

interface RoleRow {
  readonly role: string
  readonly group_id: string
  readonly members: readonly { id: string; email: string }[]
  readonly permissions: readonly string[]
}

async function open(server: AccountsServer) {
  const [ann, ben] = [await server.person('ann'), await server.person('ben')]
  const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
  const at = (path = '') => `/workspaces/${id}/roles${path}`
  const list = async () => (await succeed(ann.get(at()))).json as RoleRow[]
  /** The roles somebody has. */
  const rolesOf = async (userId: string) =>
    (await list()).flatMap(({ role, members }) => (members.some((member) => member.id === userId) ? [role] : []))
  return { ann, ben, id, at, list, rolesOf }
}

test('the roles are listed with who has them and what they may do', async () => {
  await using server = await startAccounts()
  const { ann, id, list } = await open(server)
  const listed = await list()
  expect(listed.map(({ role }) => role)).toEqual(roles)
  expect(listed[0]).toEqual({
    role: 'owners',
    group_id: await server.groupId(`owners-${id}`),
    group_name: `owners-${id}`,
    members: [{ id: ann.id, email: 'ann@example.com' }],
    permissions,
  })
  for (const role of ['coders', 'collaborators', 'spectators'] as const) {
    const row = listed.find((other) => other.role === role)
    expect(row?.permissions.toSorted()).toEqual([...rolePermissions[role]].toSorted())
  }
})

test('what a role may do is read from the entries as they are now', async () => {
  const [group, other] = ['g', 'h'].map((id) => ({ kind: 'group', id }) as const)
  if (!group || !other) throw new Error('two groups')
  const allow = { action: 'allow', principal: group } as const
  expect(permissionsOfGroup([], 'g')).toEqual([])
  expect(permissionsOfGroup([{ ...allow, permission: '*' }], 'g')).toEqual(permissions)
  expect(
    permissionsOfGroup(
      [
        { action: 'deny', principal: { kind: 'everyone' }, permission: '*' },
        { action: 'deny', principal: group, permission: 'terminal' },
        { ...allow, permission: 'files-view' },
        { ...allow, permission: 'terminal' },
        { action: 'allow', principal: other, permission: 'files-write' },
      ],
      'g',
    ),
  ).toEqual(['files-view'])
})

describe('giving a role', () => {
  test('adds it to those somebody has, and twice is no error', async () => {
    await using server = await startAccounts()
    const { ann, ben, at, rolesOf } = await open(server)
    for (const role of ['spectators', 'coders', 'coders']) {
      expect((await succeed(ann.post(at(`/${role}`), { email: 'ben' }))).json).toEqual({ ok: true })
    }
    expect(await rolesOf(ben.id)).toEqual(['coders', 'spectators'])
    expect(await server.audit('workspace.role.add')).toEqual([
      { member: ben.id, role: 'spectators' },
      { member: ben.id, role: 'coders' },
    ])
  })

  test('is refused for another word, another person, or a group that is gone', async () => {
    await using server = await startAccounts()
    const { ann, at } = await open(server)
    const give = async (role: string, email: string) => {
      const { status, json } = await ann.post(at(`/${role}`), { email })
      return [status, json]
    }
    expect(await give('admins', 'nobody')).toMatchObject([400, { detail: 'Invalid role: admins' }])
    expect(await give('coders', 'nobody')).toMatchObject([404, { detail: 'User not found' }])
    expect(await give('coders', systemAgent.handle)).toMatchObject([
      400,
      { detail: expect.stringContaining('system agent') },
    ])
    const coders = (await succeed(ann.get(at()))).json as RoleRow[]
    const group = coders.find(({ role }) => role === 'coders')?.group_id
    await succeed(server.admin.delete(`/groups/${group}`))
    expect(await give('coders', 'nobody')).toMatchObject([404, { detail: 'Role group not found' }])
    expect((await ann.delete(at(`/coders/${ann.id}`))).status).toBe(404)
    expect((await succeed(ann.get(at()))).json).toHaveLength(3)
  })
})

describe('changing a role', () => {
  test('makes it the only one; null takes all', async () => {
    await using server = await startAccounts()
    const { ann, ben, at, rolesOf } = await open(server)
    for (const role of ['coders', 'spectators']) await succeed(ann.post(at(`/${role}`), { email: 'ben' }))
    const change = async (role: string | null) => (await succeed(ann.patch(at(), { email: 'ben', role }))).json
    expect(await change('collaborators')).toEqual({ ok: true, email: 'ben', role: 'collaborators' })
    expect(await rolesOf(ben.id)).toEqual(['collaborators'])
    expect(await change('collaborators')).toMatchObject({ ok: true })
    expect(await change(null)).toEqual({ ok: true, email: 'ben', role: null })
    expect(await rolesOf(ben.id)).toEqual([])
    expect(await server.audit('workspace.role.change')).toEqual([
      { member: ben.id, role: 'collaborators' },
      { member: ben.id, role: null },
    ])
  })

  test('looks for the person first, then at the role, and needs both', async () => {
    await using server = await startAccounts()
    const { ann, at } = await open(server)
    const change = async (body: object) => {
      const { status, json } = await ann.patch(at(), body)
      return [status, json]
    }
    expect(await change({ email: 'nobody', role: 'kings' })).toMatchObject([404, { detail: 'User not found' }])
    expect(await change({ email: 'ben', role: 'kings' })).toMatchObject([400, { detail: 'Invalid role: kings' }])
    expect(await change({ email: systemAgent.email, role: null })).toMatchObject([400, {}])
    expect(await change({ email: 'ben' })).toMatchObject([422, {}])
  })
})

test('a role is taken away, and once more is no error; the owner keeps the workspace without one', async () => {
  await using server = await startAccounts()
  const { ann, ben, at, rolesOf } = await open(server)
  await succeed(ann.post(at('/coders'), { email: 'ben' }))
  for (const userId of [ben.id, ben.id, NOBODY]) {
    expect((await succeed(ann.delete(at(`/coders/${userId}`)))).json).toEqual({ ok: true })
  }
  expect(await rolesOf(ben.id)).toEqual([])
  expect((await ann.delete(at(`/kings/${ben.id}`))).status).toBe(400)
  await succeed(ann.delete(at(`/owners/${ann.id}`)))
  expect(await rolesOf(ann.id)).toEqual([])
  expect(await server.audit('workspace.role.remove')).toHaveLength(2)
})
