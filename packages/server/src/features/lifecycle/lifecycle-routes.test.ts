import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLocalEngine } from '../../testing/live-workspace.ts'
import { run } from '../../testing/open-machine.ts'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
let eve: Person
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  eve = await server.person('eve')
})
afterAll(() => server[Symbol.asyncDispose]())

const STOPPED = {
  running: false,
  container_id: null,
  health: null,
  health_message: null,
  health_checked_at: null,
  idle_seconds: null,
  idle_timeout: null,
  ports: [],
  restart: null,
  network: null,
}

async function workspace(name: string, more: object = {}): Promise<string> {
  return field(await succeed(ann.post('/workspaces', { name, egress_mode: 'allow', ...more })), 'id')
}
const status = async (id: string) => (await succeed(ann.get(`/workspaces/${id}/status`))).json
const events = async (id: string) => {
  const { json } = await succeed(server.admin.get(`/events/containers?workspace_id=${id}`))
  return Reflect.get(Object(json), 'items')
}

test('a workspace is started and stopped, and its status and the trail tell of it', async () => {
  const id = await workspace('blue house')
  expect(await status(id)).toEqual(STOPPED)
  expect((await succeed(ann.post(`/workspaces/${id}/start`))).json).toEqual({ status: 'started' })
  expect((await succeed(ann.post(`/workspaces/${id}/start`))).json).toEqual({ status: 'already_running' })
  const running = await status(id)
  expect(running).toEqual({
    ...STOPPED,
    running: true,
    container_id: expect.any(String),
    idle_seconds: 0,
    idle_timeout: 3600,
    ports: expect.arrayContaining([expect.any(Number)]),
    network: { mode: 'host', note: expect.any(String) },
  })
  server.clock.advance(1_250)
  expect(await status(id)).toMatchObject({ idle_seconds: 1.3 })
  for (let time = 0; time < 2; time++) {
    expect((await succeed(ann.post(`/workspaces/${id}/stop`))).json).toEqual({ status: 'stopped' })
  }
  expect(await status(id)).toEqual(STOPPED)
  expect(await events(id)).toMatchObject([
    { event: 'stop', cause: 'stop', actor_type: 'user', actor_email: ann.email, workspace_name: 'blue house' },
    { event: 'start', cause: 'api', container_role: 'workspace', network_namespace: null },
  ])
})

test('a restart leaves a workspace stopped', async () => {
  const id = await workspace('green house')
  await succeed(ann.post(`/workspaces/${id}/start`))
  expect((await succeed(ann.post(`/workspaces/${id}/restart`))).json).toEqual({ status: 'restarted' })
  expect(await status(id)).toEqual(STOPPED)
})

test('a workspace that wants a filter is started without a network, and says so', async () => {
  const id = await workspace('red house', { egress_mode: 'interactive' })
  await succeed(ann.post(`/workspaces/${id}/start`))
  expect(await status(id)).toMatchObject({
    ports: [],
    network: { mode: 'none', note: expect.stringContaining('Outgoing connections are off') },
  })
})

test.each(['start', 'stop', 'restart'])('%s needs terminal or its own permission', async (what) => {
  const id = await workspace(`for ${what}`)
  const path = `/workspaces/${id}/${what}`
  const call = async () => (await eve.post(path)).status
  expect([await call(), (await eve.get(`/workspaces/${id}/status`)).status]).toEqual([403, 403])
  for (const permission of ['terminal', `${what}-workspace`]) {
    const allow = { action: 1, principal_type: 1 }
    const rows = [
      { ...allow, user_id: ann.id, permission: '*' },
      { ...allow, user_id: eve.id, permission },
    ]
    await succeed(ann.put(`/workspaces/${id}/acl`, rows))
    expect(await call()).toBe(200)
  }
  await server.app.lifecycle.stop(id, { cause: 'stop', actor: { type: 'system' } })
})

test('deleting a running workspace stops it first', async () => {
  const id = await workspace('old house')
  await succeed(ann.post(`/workspaces/${id}/start`))
  await succeed(ann.delete(`/workspaces/${id}`))
  expect((await server.engine.list()).filter(({ workspaceId }) => workspaceId === id)).toEqual([])
  expect(await events(id)).toMatchObject([{ event: 'stop', cause: 'delete', workspace_name: null }, { event: 'start' }])
})

test('the trail of containers can be filtered by name, within bounds', async () => {
  const query = (text: string) => server.admin.get(`/events/containers?${text}`)
  expect((await query('limit=0')).status).toBe(422)
  expect((await query('limit=201')).status).toBe(422)
  expect((await succeed(query('workspace=BLUE&limit=1'))).json).toMatchObject({ total: 2, limit: 1, offset: 0 })
  expect((await eve.get('/events/containers')).status).toBe(403)
})

test('the token in a workspace names it, until its container is gone', async () => {
  const id = await workspace('token house')
  await succeed(ann.post(`/workspaces/${id}/start`))
  const path = '/api/v1/auth/verify-workspace-token'
  const verify = (token?: string) =>
    server.request('GET', path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
  const token = await run(server.app.lifecycle.requireRunning(id), 'cat /tmp/svc/workspace-token')
  const good = await verify(token)
  expect([good.status, good.json]).toEqual([200, { status: 'ok', workspace_id: id }])
  expect(await verify()).toMatchObject({ status: 401, json: { detail: 'Missing token' } })
  expect((await verify()).headers['x-token-error']).toBe('missing')
  expect((await verify(ann.token)).headers['x-token-error']).toBe('invalid')
  await succeed(ann.post(`/workspaces/${id}/stop`))
  const late = await verify(token)
  expect([late.status, late.headers['x-token-error'], late.json]).toMatchObject([
    401,
    'invalid',
    { detail: 'Invalid workspace token' },
  ])
  expect((await ann.get('/auth/me')).status).toBe(200)
  expect((await server.as(token).get('/auth/me')).status).toBe(401)
})
