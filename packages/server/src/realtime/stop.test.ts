import { expect, test } from 'vitest'
import { connect, makeWorkspace, openLocalEngine, story } from '../testing/live-workspace.ts'
import { openSocket } from '../testing/socket-client.ts'
import { ADMIN, startAccounts } from '../testing/start-accounts.ts'
import { scratchFolder, startDaemon } from '../testing/start-daemon.ts'

test('an orderly end is announced, then workspaces stop, then every socket is closed with 1012', async () => {
  await using server = await startAccounts({ openEngine: openLocalEngine })
  const ann = await server.person('ann')
  const workspaceId = await makeWorkspace(ann)
  const [inside, outside] = await Promise.all([server.socket(ann.token), server.socket(server.admin.token)])
  await connect(inside, workspaceId)
  const from = inside.frames.length
  server.app.announceEnd()
  await outside.next('host_shutdown')
  outside.send({ cmd: 'heartbeat' })
  inside.send({ cmd: 'workspace_connect', workspaceId: await makeWorkspace(ann) })
  expect(await inside.next('error')).toMatchObject({ code: 'draining' })
  await connect(inside, workspaceId)
  await server.app.drain()
  await server.app.stop()
  expect(await inside.closed).toEqual({ code: 1012, reason: 'The server stops' })
  expect(await outside.closed).toMatchObject({ code: 1012 })
  const told = story(inside, from)
  expect(told[0]).toBe('host_shutdown')
  expect(told.slice(told.lastIndexOf('container_ready') + 1)).toEqual([
    'container_status false',
    'event container_stopped host shutdown',
  ])
})

test('the daemon says goodbye with 1012 when it is told to stop', async () => {
  const { daemon, port, request } = await startDaemon(await scratchFolder(), {
    SVCD_AUTH_MODES: 'password',
    SVCD_DEFAULT_USER: ADMIN.email,
    SVCD_DEFAULT_PASSWORD: ADMIN.password,
  })
  const answer = await request('POST', '/api/v1/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: ADMIN.email, password: ADMIN.password }),
  })
  const socket = await openSocket(port, String(Reflect.get(Object(answer.json), 'access_token')))
  await socket.next('server_schedule')
  daemon.kill('SIGTERM')
  await socket.next('host_shutdown')
  expect(await socket.closed).toMatchObject({ code: 1012 })
  expect(await daemon.exit()).toBe(0)
})
