import { systemAgent } from '@svc/protocol/system-agent'
import { describe, expect, test } from 'vitest'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import type { AclEntry } from '../acl/entry.ts'
import { withOwner } from './workspace-transfer.ts'

const entry = (action: AclEntry['action'], id: string, permission: AclEntry['permission']): AclEntry => ({
  action,
  principal: { kind: 'user', id },
  permission,
})
const everyone: AclEntry = { action: 'deny', principal: { kind: 'everyone' }, permission: '*' }

test.each([
  ['stands where the old one stood', [entry('allow', 'old', '*'), everyone], [entry('allow', 'new', '*'), everyone]],
  ['stands first when there was none', [everyone], [entry('allow', 'new', '*'), everyone]],
  [
    'leaves what else the old owner had, and what others have',
    [entry('deny', 'other', 'view'), entry('allow', 'old', '*'), entry('allow', 'old', 'view')],
    [entry('deny', 'other', 'view'), entry('allow', 'new', '*'), entry('allow', 'old', 'view')],
  ],
  [
    'takes the place of all that named the new owner',
    [entry('deny', 'new', 'view'), entry('allow', 'old', '*'), entry('allow', 'new', 'terminal')],
    [entry('allow', 'new', '*')],
  ],
  [
    'is one, however many there were',
    [entry('allow', 'old', '*'), entry('allow', 'old', '*')],
    [entry('allow', 'new', '*')],
  ],
])('the entry of the new owner %s', (_, before, after) => {
  expect(withOwner(before, 'old', 'new')).toEqual(after)
})

async function open(server: AccountsServer) {
  const [ann, ben] = [await server.person('ann'), await server.person('ben')]
  const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
  const transfer = (by: Person, email: string) => by.post(`/workspaces/${id}/transfer`, { email })
  return { ann, ben, id, transfer }
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: POST /workspaces/<id>/transfer`, () => {
    const databases = useDatabases(kind)

    test('moves the workspace with everything that makes somebody its owner', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { ann, ben, id, transfer } = await open(server)
      await succeed(ann.post(`/workspaces/${id}/members`, { email: 'ben' }))
      const moved = await succeed(transfer(ann, 'ben@example.com'))
      expect(moved.json).toMatchObject({ id, user_id: ben.id, name: 'demo' })
      expect((await succeed(ben.get('/workspaces'))).json).toMatchObject([{ id }])
      expect((await succeed(ann.get('/workspaces'))).json).toEqual([])
      expect((await succeed(ann.get('/workspaces/shared'))).json).toEqual([])
      expect((await ann.get(`/workspaces/${id}/members`)).status).toBe(403)
      const owners = (await succeed(ben.get(`/workspaces/${id}/roles`))).json
      expect(owners).toMatchObject([{ role: 'owners', members: [{ id: ben.id }] }, {}, {}, {}])
      expect((await succeed(ben.get(`/workspaces/${id}/acl`))).json).toMatchObject([
        { position: 0, user_id: ben.id, permission: '*' },
        ...Array.from({ length: 33 }, () => ({ principal_type: 2 })),
      ])
      expect((await succeed(ben.get(`/workspaces/${id}/members`))).json).toEqual([])
      expect(await server.audit('workspace.transfer')).toEqual([{ to: ben.id, from: ann.id }])
    })

    test('of two at the same time the second finds that it is no longer theirs to give', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { ann, ben, id, transfer } = await open(server)
      const answers = await server.writeInOrder([() => transfer(ann, 'ben'), () => transfer(ann, 'ben')])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
      expect((await succeed(ben.get('/workspaces'))).json).toMatchObject([{ id }])
      expect(await server.audit('workspace.transfer')).toHaveLength(1)
    })

    test('a name that the new owner takes meanwhile stands in the way', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { ann, ben, transfer } = await open(server)
      const answers = await server.writeInOrder([
        () => ben.post('/workspaces', { name: 'demo' }),
        () => transfer(ann, 'ben'),
      ])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    })
  })
}

test('a transfer is refused where it cannot be', async () => {
  await using server = await startAccounts()
  const { ann, ben, transfer } = await open(server)
  const refusal = async (email: string) => {
    const { status, json } = await transfer(ann, email)
    return [status, json]
  }
  expect(await refusal('nobody')).toMatchObject([404, { detail: 'User not found' }])
  expect(await refusal('ann')).toMatchObject([409, { detail: 'Target user is already the owner' }])
  expect(await refusal(systemAgent.handle)).toMatchObject([400, { detail: 'The system agent cannot be changed' }])
  await succeed(ben.post('/workspaces', { name: 'demo' }))
  expect(await refusal('ben')).toMatchObject([409, { detail: "Target user already owns a workspace named 'demo'" }])
  await server.person('cat')
  const cat = (await server.app.accounts.findByHandle('cat'))?.id
  await succeed(server.admin.patch(`/users/${cat}`, { disabled: true }))
  expect(await refusal('cat')).toMatchObject([409, { detail: 'The account of the target user is disabled' }])
  expect(await server.audit('workspace.transfer')).toEqual([])
})
