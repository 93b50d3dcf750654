import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowOnly, connect, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import type { Attachment } from './attachment.ts'

let server: AccountsServer
let ann: Person
let bob: Person
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  bob = await server.person('bob')
})
afterAll(() => server[Symbol.asyncDispose]())

const FORBIDDEN = { type: 'error', code: 'forbidden', message: 'Permission denied' }
const open = (id: string) => server.app.attachments.in(id).map(({ userId }) => userId)

async function opened(person: Person, id: string): Promise<SocketClient> {
  const socket = await server.socket(person.token)
  await connect(socket, id)
  return socket
}

/** Ends with nobody but ann in the workspace; bob can still use his socket, and not open the workspace again. */
async function expectBobOut(id: string, socket: SocketClient): Promise<void> {
  expect(await socket.next('error')).toEqual(FORBIDDEN)
  expect(open(id)).toEqual([ann.id])
  socket.send({ cmd: 'ui_ready' })
  expect(await socket.next('error')).toMatchObject({ code: 'not_connected' })
  socket.send({ cmd: 'workspace_connect', workspaceId: id })
  expect(await socket.next('error')).toMatchObject({ code: 'forbidden', cmd: 'workspace_connect' })
}

test('who is no longer shared with leaves the workspace at once, and keeps the socket', async () => {
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/members`, { email: bob.email }))
  const [hers, his] = [await opened(ann, id), await opened(bob, id)]
  await succeed(ann.delete(`/workspaces/${id}/members/${bob.id}`))
  await expectBobOut(id, his)
  await hers.roundTrip()
  expect(story(hers)).not.toContain('error forbidden Permission denied')
})

test('who loses the group that let them in leaves as well', async () => {
  const id = await makeWorkspace(ann)
  const groupId = field(await succeed(server.admin.post('/groups', { name: 'builders' })), 'id')
  await succeed(server.admin.post(`/groups/${groupId}/members`, { user_id: bob.id }))
  await succeed(ann.post(`/workspaces/${id}/groups`, { group_id: groupId }))
  await opened(ann, id)
  const his = await opened(bob, id)
  await succeed(server.admin.delete(`/groups/${groupId}/members/${bob.id}`))
  await expectBobOut(id, his)
})

test('a group that is deleted takes its members out', async () => {
  const id = await makeWorkspace(ann)
  const groupId = field(await succeed(server.admin.post('/groups', { name: 'masons' })), 'id')
  await succeed(server.admin.post(`/groups/${groupId}/members`, { user_id: bob.id }))
  await succeed(ann.post(`/workspaces/${id}/groups`, { group_id: groupId }))
  await opened(ann, id)
  const his = await opened(bob, id)
  await succeed(server.admin.delete(`/groups/${groupId}`))
  await expectBobOut(id, his)
})

test('a role that is taken away takes its bearer out', async () => {
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/roles/coders`, { email: bob.email }))
  await opened(ann, id)
  const his = await opened(bob, id)
  await succeed(ann.delete(`/workspaces/${id}/roles/coders/${bob.id}`))
  await expectBobOut(id, his)
})

test('entries further up count as well', async () => {
  const everywhere = '/acl/resource?resource=%2Fworkspaces'
  const { json: before } = await succeed(server.admin.get(everywhere))
  const join = { action: 1, principal_type: 1, user_id: bob.id, permission: 'join-workspace' }
  await succeed(server.admin.put(everywhere, [...Object(before), join]))
  const id = await makeWorkspace(ann)
  await opened(ann, id)
  const his = await opened(bob, id)
  await succeed(server.admin.put(everywhere, before))
  await expectBobOut(id, his)
})

test('an account that is disabled leaves every workspace with its sockets', async () => {
  const cid = await server.person('cid')
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/members`, { email: cid.email }))
  const his = await opened(cid, id)
  await succeed(server.admin.patch(`/users/${cid.id}`, { disabled: true }))
  expect(await his.closed).toMatchObject({ code: 4001 })
  await expect.poll(() => open(id)).toEqual([])
})

test('a deleted workspace is gone for everybody who had it open, also for who may join all of them', async () => {
  const everywhere = '/acl/resource?resource=%2Fworkspaces'
  const { json: before } = await succeed(server.admin.get(everywhere))
  const join = { action: 1, principal_type: 1, user_id: server.admin.id, permission: 'join-workspace' }
  await succeed(server.admin.put(everywhere, [...Object(before), join]))
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/members`, { email: bob.email }))
  const sockets = [await opened(ann, id), await opened(bob, id), await opened(server.admin, id)]
  await succeed(ann.delete(`/workspaces/${id}`))
  for (const socket of sockets) {
    expect(await socket.next('error')).toEqual({ type: 'error', code: 'not_found', message: 'Workspace not found' })
    expect(story(socket)).toContain('event container_stopped deleted')
  }
  expect(open(id)).toEqual([])
  await succeed(server.admin.put(everywhere, before))
})

test('rights that changed are announced for those who stay, and only for them', async () => {
  const [id, other] = [await makeWorkspace(ann), await makeWorkspace(ann)]
  await allowOnly(ann, id, [[bob, ['join-workspace', 'exec-and-sync']]])
  const his = await opened(bob, id)
  await opened(ann, other)
  const seen: { attachment: Attachment; mayExec: boolean }[] = []
  const { attachments } = server.app
  const end = attachments.rightsChanged.subscribe(async (attachment) => {
    seen.push({ attachment, mayExec: await attachments.allows(attachment, 'exec-and-sync') })
  })
  await allowOnly(ann, id, [[bob, ['join-workspace']]])
  await expect
    .poll(() => seen.map(({ attachment, mayExec }) => [attachment.userId, mayExec]))
    .toEqual([[bob.id, false]])
  await allowOnly(ann, id)
  expect(await his.next('error')).toEqual(FORBIDDEN)
  end()
  expect(seen).toHaveLength(1)
})
