import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ContainerEngine } from '../../engine/container-engine.ts'
import { connect, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import { engineWith, run } from '../../testing/open-machine.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
let eve: Person
/** While there is one, no container is made. */
let gate: PromiseWithResolvers<void> | undefined

beforeAll(async () => {
  server = await startAccounts({
    openEngine: async (folder) => {
      const engine = await openLocalEngine(folder)
      const held: ContainerEngine['run'] = async (spec, options) => {
        await gate?.promise
        return engine.run(spec, options)
      }
      return engineWith(engine, { run: held })
    },
  })
  ann = await server.person('ann')
  eve = await server.person('eve')
})
afterAll(() => server[Symbol.asyncDispose]())

const trail = async (id: string) => {
  const { json } = await succeed(server.admin.get(`/events/containers?workspace_id=${id}`))
  const items: { event: string; cause: string; actor_email: string | null }[] = Reflect.get(Object(json), 'items')
  return items.map(({ event, cause, actor_email }) => `${event} ${cause} ${actor_email}`).toReversed()
}
const idleSeconds = (id: string) => server.app.lifecycle.status({ id }).idleSeconds
const opening = (id: string) => expect.poll(() => server.app.lifecycle.stages.soFar(id).length).toBeGreaterThan(0)

test('opening a stopped workspace starts it, and the caller is told when it can be used', async () => {
  const id = await makeWorkspace(ann, { service_command: 'sleep 1000' })
  const socket = await server.socket(ann.token)
  expect(await connect(socket, id)).toEqual({
    type: 'container_ready',
    workspaceId: id,
    userId: ann.id,
    ports: server.app.lifecycle.status({ id }).ports,
    serviceCommand: 'sleep 1000',
    userHome: '/home/svc',
  })
  expect(server.app.lifecycle.status({ id }).running).toBe(true)
  expect(await trail(id)).toEqual([`start ws_connect ${ann.email}`])
})

test('opening one that runs changes nothing but that it is used', async () => {
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/start`))
  server.clock.advance(5_000)
  const socket = await server.socket(ann.token)
  await connect(socket, id)
  expect([idleSeconds(id), await trail(id)]).toEqual([0, [`start api ${ann.email}`]])
})

test('two tabs that open a workspace at once start one container', async () => {
  const id = await makeWorkspace(ann)
  const tabs = await Promise.all([server.socket(ann.token), server.socket(ann.token)])
  await Promise.all(tabs.map((tab) => connect(tab, id)))
  expect((await server.engine.list()).filter(({ workspaceId }) => workspaceId === id)).toHaveLength(1)
  expect(await trail(id)).toEqual([`start ws_connect ${ann.email}`])
  for (const tab of tabs) expect(story(tab)).not.toContain('event container_ready The workspace was started')
})

test('a person without join-workspace, and an id of nothing, get the same refusal', async () => {
  const id = await makeWorkspace(ann)
  const socket = await server.socket(eve.token)
  for (const workspaceId of [id, crypto.randomUUID(), '../groups', '']) {
    socket.send({ cmd: 'workspace_connect', workspaceId })
    expect(await socket.next('error')).toEqual({
      type: 'error',
      code: 'forbidden',
      message: 'Permission denied',
      cmd: 'workspace_connect',
    })
  }
  expect(await server.engine.list()).not.toContainEqual(expect.objectContaining({ workspaceId: id }))
})

test('who may join every workspace is told that there is no such one', async () => {
  const allow = { action: 1, principal_type: 1 }
  const entries = (permissions: string[]) =>
    permissions.map((permission) => ({ ...allow, user_id: server.admin.id, permission }))
  const everywhere = '/acl/resource?resource=%2Fworkspaces'
  const { json: before } = await succeed(server.admin.get(everywhere))
  await succeed(server.admin.put(everywhere, entries(['join-workspace'])))
  const socket = await server.socket(server.admin.token)
  socket.send({ cmd: 'workspace_connect', workspaceId: crypto.randomUUID() })
  expect(await socket.next('error')).toMatchObject({ code: 'not_found', cmd: 'workspace_connect' })
  await succeed(server.admin.put(everywhere, before))
})

test.each<[string, Record<string, string>]>([
  ['start_failed', { SVCD_FIPS_MODE: 'true' }],
  ['capacity', { SVCD_MAX_RUNNING_WORKSPACES_PER_USER: '1' }],
  ['capacity', { SVCD_ADMISSION_MEMORY_ENABLED: 'true', SVCD_CONTAINER_MEMORY_LIMIT: '900000g' }],
])('a start that is refused is told as %s, and the socket stays open', async (code, env) => {
  await makeWorkspace(ann).then(async (other) => succeed(ann.post(`/workspaces/${other}/start`)))
  const id = await makeWorkspace(ann)
  const socket = await server.socket(ann.token, { caps: ['req'] })
  await server.reconfigure(env)
  socket.send({ cmd: 'workspace_connect', workspaceId: id, req: '1' })
  expect(await socket.next('error')).toMatchObject({ code, cmd: 'workspace_connect', req: '1' })
  await server.reconfigure({})
  socket.send({ cmd: 'heartbeat', req: '2' })
  expect(await socket.next('ack')).toMatchObject({ req: '2' })
  expect(await connect(socket, id)).toMatchObject({ workspaceId: id })
})

test('while the server drains, only what runs can be opened', async () => {
  const [stopped, running] = [await makeWorkspace(ann), await makeWorkspace(ann)]
  await succeed(ann.post(`/workspaces/${running}/start`))
  const socket = await server.socket(ann.token)
  server.app.lifecycle.refuseStarts()
  socket.send({ cmd: 'workspace_connect', workspaceId: stopped })
  expect(await socket.next('error')).toMatchObject({ code: 'draining' })
  await connect(socket, running)
  server.app.lifecycle.resume()
})

test('a socket that goes away during the start leaves nothing, and the start goes on for others', async () => {
  const id = await makeWorkspace(ann)
  gate = Promise.withResolvers()
  const [lost, staying] = [await server.socket(ann.token), await server.socket(ann.token)]
  for (const socket of [lost, staying]) socket.send({ cmd: 'workspace_connect', workspaceId: id })
  await opening(id)
  await lost.close()
  gate.resolve()
  gate = undefined
  await staying.next('container_ready')
  expect(server.app.attachments.in(id)).toHaveLength(1)
  await staying.close()
  await expect.poll(() => server.app.attachments.in(id)).toEqual([])
  expect(server.app.lifecycle.status({ id }).running).toBe(true)
})

test('who loses join-workspace during the start is refused, and is not in the workspace', async () => {
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/members`, { email: eve.email }))
  gate = Promise.withResolvers()
  const socket = await server.socket(eve.token)
  socket.send({ cmd: 'workspace_connect', workspaceId: id })
  await opening(id)
  await succeed(ann.delete(`/workspaces/${id}/members/${eve.id}`))
  gate.resolve()
  gate = undefined
  expect(await socket.next('error')).toMatchObject({ code: 'forbidden', cmd: 'workspace_connect' })
  expect([server.app.attachments.in(id), story(socket)]).toEqual([[], expect.not.arrayContaining(['container_ready'])])
})

test('opening another workspace leaves the one before, which runs on', async () => {
  const [first, second] = [await makeWorkspace(ann), await makeWorkspace(ann)]
  const socket = await server.socket(ann.token)
  await connect(socket, first)
  await connect(socket, second)
  expect([server.app.attachments.in(first).length, server.app.attachments.in(second).length]).toEqual([0, 1])
  expect(server.app.lifecycle.status({ id: first }).running).toBe(true)
})

test('leaving a workspace is not answered, and then there is none open', async () => {
  const id = await makeWorkspace(ann)
  const socket = await server.socket(ann.token)
  await connect(socket, id)
  const before = socket.frames.length
  socket.send({ cmd: 'workspace_disconnect' })
  socket.send({ cmd: 'workspace_disconnect' })
  socket.send({ cmd: 'ui_ready' })
  expect(await socket.next('error')).toMatchObject({ code: 'not_connected', cmd: 'ui_ready' })
  expect([socket.frames.length - before, server.app.attachments.in(id)]).toEqual([1, []])
})

test('a page that is there is told once that the workspace is ready, and what it may watch each time', async () => {
  const id = await makeWorkspace(ann)
  const socket = await server.socket(ann.token, { caps: ['req'] })
  await connect(socket, id)
  const before = socket.frames.length
  socket.send({ cmd: 'ui_ready', req: 'a' })
  expect(await socket.next('shared_terminals')).toEqual({ type: 'shared_terminals', terminals: [], req: 'a' })
  socket.send({ cmd: 'ui_ready', req: 'b' })
  expect(await socket.next('shared_terminals')).toMatchObject({ req: 'b' })
  expect(story(socket, before)).toEqual([
    expect.stringMatching(
      /^event container_ready The workspace is ready; ports .*; stops after 60 minutes without use$/,
    ),
    'shared_terminals',
    'shared_terminals',
  ])
})

test('a heartbeat keeps the workspace that is open from being idle, and needs none', async () => {
  const id = await makeWorkspace(ann)
  const socket = await server.socket(ann.token, { caps: ['req'] })
  const beat = async () => {
    socket.send({ cmd: 'heartbeat', req: 'h' })
    await socket.next('ack')
  }
  await beat()
  await connect(socket, id)
  server.clock.advance(5_000)
  expect(idleSeconds(id)).toBe(5)
  await beat()
  expect(idleSeconds(id)).toBe(0)
})

test('where both the server and the workspace want it, each member has a home of their own', async () => {
  await server.reconfigure({ SVCD_PER_HANDLE_HOME: 'true' })
  const id = await makeWorkspace(ann, { per_handle_home: true })
  const plain = await makeWorkspace(ann, { per_handle_home: false })
  await succeed(ann.post(`/workspaces/${id}/members`, { email: eve.email }))
  const [one, other] = [await server.socket(ann.token), await server.socket(eve.token)]
  expect(await connect(one, plain)).toMatchObject({ userHome: '/home/svc' })
  expect(await connect(one, id)).toMatchObject({ userHome: '/home/ann' })
  expect(await connect(other, id)).toMatchObject({ userHome: '/home/eve' })
  const running = server.app.lifecycle.requireRunning(id)
  expect(await run(running, 'cd /home && readlink ann eve')).toBe(`.users/${ann.id}\n.users/${eve.id}`)
  await server.reconfigure({})
  expect(await connect(one, id)).toMatchObject({ userHome: '/home/svc' })
})

test('a home that cannot be made refuses the person, who is not in the workspace then', async () => {
  await server.reconfigure({ SVCD_PER_HANDLE_HOME: 'true' })
  const id = await makeWorkspace(ann, { per_handle_home: true })
  await succeed(ann.post(`/workspaces/${id}/start`))
  await run(server.app.lifecycle.requireRunning(id), 'rm -rf /home/.users && touch /home/.users')
  const socket = await server.socket(ann.token)
  socket.send({ cmd: 'workspace_connect', workspaceId: id })
  expect(await socket.next('error')).toMatchObject({
    code: 'start_failed',
    message: 'Your home in the workspace could not be prepared',
  })
  expect(server.app.attachments.in(id)).toEqual([])
  await server.reconfigure({})
})
