import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccountsServer, type Person, startAccounts } from '../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
beforeAll(async () => {
  server = await startAccounts({ env: { SVCD_WEBSOCKET_MSG_SIZE_MAX: '100000' } })
  ann = await server.person('ann')
})
afterAll(() => server[Symbol.asyncDispose]())

test('hello tells who the server is, what it takes, and which capabilities it knows', async () => {
  const socket = await server.socket(ann.token)
  socket.send({ cmd: 'hello', v: 1, client: 'test', caps: ['req', 'flying', 'bin', 'req'], req: 'r1' })
  expect(await socket.next('hello')).toEqual({
    type: 'hello',
    v: 1,
    conn_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    instance: '9d2c8f54-0c44-4f0e-9a3c-0a6d5f3b7a11',
    version: '1.2.3',
    caps: ['req', 'bin'],
    limits: { msg: 100000, ring: 262144, window: 1048576 },
    req: 'r1',
  })
})

test('hello comes first or never', async () => {
  const socket = await server.socket(ann.token)
  socket.send({ cmd: 'heartbeat' })
  socket.send({ cmd: 'hello', caps: [] })
  expect(await socket.next('error')).toMatchObject({ code: 'invalid', cmd: 'hello' })
})

test.each([
  ['text that is no JSON', '{"cmd":', {}],
  ['JSON that is no object', '[1]', {}],
  ['null', 'null', {}],
  ['an object without a command', '{}', {}],
  ['a command that is no text', '{"cmd":7}', {}],
  ['an unknown command', '{"cmd":"set_handle","handle":"x"}', { cmd: 'set_handle' }],
  ['a command by a name every object has', '{"cmd":"constructor"}', { cmd: 'constructor' }],
  ['a command without its field', '{"cmd":"workspace_connect"}', { cmd: 'workspace_connect' }],
  ['a field of the wrong type', '{"cmd":"terminal_input","data":7}', { cmd: 'terminal_input' }],
  ['a very deep one', '['.repeat(40_000) + ']'.repeat(40_000), {}],
])('%s is answered with `invalid`, and the session goes on', async (_, text, more) => {
  const socket = await server.socket(ann.token)
  socket.sendRaw(text)
  expect(await socket.next('error')).toEqual({ type: 'error', code: 'invalid', message: expect.any(String), ...more })
  await socket.roundTrip()
})

test('the name of an unknown command is repeated in part at most', async () => {
  const socket = await server.socket(ann.token)
  socket.send({ cmd: 'x'.repeat(50_000) })
  expect((await socket.next('error')).cmd).toHaveLength(64)
})

test('binary messages are for those who asked for `bin`', async () => {
  const plain = await server.socket(ann.token)
  plain.sendBinary({ kind: 'terminalInput', channel: 1, offset: 0, payload: Buffer.from('x') })
  expect(await plain.next('error')).toMatchObject({ code: 'invalid' })

  const socket = await server.socket(ann.token, { caps: ['bin'] })
  socket.sendBinary({ kind: 'terminalInput', channel: 1, offset: 0, payload: Buffer.from('x') })
  expect(await socket.next('error')).toMatchObject({ code: 'not_connected' })
  for (const bytes of [[], [2], [99, ...new Array(20).fill(0)], [1, ...new Array(20).fill(0)]]) {
    socket.sendRaw(Buffer.from(bytes))
    expect(await socket.next('error')).toMatchObject({ code: 'invalid' })
  }
})

test('with `req` errors repeat it and commands without an answer are acknowledged; without it, neither', async () => {
  const socket = await server.socket(ann.token, { caps: ['req'] })
  socket.send({ cmd: 'heartbeat', req: 'a' })
  expect(await socket.next('ack')).toEqual({ type: 'ack', req: 'a', cmd: 'heartbeat' })
  socket.send({ cmd: 'exec_stop', req: 'b' })
  expect(await socket.next('error')).toMatchObject({ code: 'not_connected', cmd: 'exec_stop', req: 'b' })
  socket.send({ cmd: 'nothing of the kind', req: 'c' })
  expect(await socket.next('error')).toMatchObject({ code: 'invalid', req: 'c' })
  socket.send({ cmd: 'workspace_connect', workspaceId: 'no-such', req: 'd' })
  expect(await socket.next('error')).toMatchObject({ message: 'Permission denied', code: 'forbidden', req: 'd' })
  socket.send({ cmd: 'heartbeat', req: 'x'.repeat(65) })
  socket.send({ cmd: 'heartbeat', req: 7 })
  socket.send({ cmd: 'heartbeat' })

  const plain = await server.socket(ann.token)
  plain.send({ cmd: 'heartbeat', req: 'a' })
  plain.send({ cmd: 'exec_stop', req: 'b' })
  expect(await plain.next('error')).not.toHaveProperty('req')
  await plain.roundTrip()
  await socket.roundTrip()
  for (const { frames } of [plain, socket])
    expect(frames.filter(({ type }) => type === 'ack').length).toBe(frames === socket.frames ? 1 : 0)
})

test("an id that would be a path of its own is nobody's", async () => {
  const socket = await server.socket(server.admin.token)
  for (const workspaceId of ['', '.', '..', 'a/b', 'a\0b', '../users']) {
    socket.send({ cmd: 'workspace_connect', workspaceId })
    expect(await socket.next('error')).toMatchObject({ code: 'forbidden', message: 'Permission denied' })
  }
})

test('a message above the limit closes with 1009', async () => {
  const socket = await server.socket(ann.token)
  socket.send({ cmd: 'terminal_input', data: 'x'.repeat(100_000) })
  expect(await socket.closed).toMatchObject({ code: 1009 })
})

test('more than a hundred malformed messages within ten seconds close with 1008', async () => {
  const slow = await server.socket(ann.token)
  const fast = await server.socket(ann.token)
  for (let count = 0; count < 100; count++) slow.sendRaw('?')
  await slow.until(() => slow.frames.filter(({ type }) => type === 'error').length === 100)
  server.clock.advance(10_000)
  for (let count = 0; count < 100; count++) slow.sendRaw('?')
  for (let count = 0; count < 101; count++) fast.sendRaw('?')
  expect(await fast.closed).toMatchObject({ code: 1008 })
  await slow.until(() => slow.frames.filter(({ type }) => type === 'error').length === 200)
})

test('the log tells type and size of messages when it is asked to, and never what is in them', async () => {
  await server.reconfigure({ SVCD_WEBSOCKET_DEBUG: 'true' })
  const socket = await server.socket(ann.token, { caps: ['bin'] })
  socket.send({ cmd: 'terminal_input', data: 'the-secret-i-typed' })
  socket.sendBinary({ kind: 'terminalInput', channel: 1, offset: 0, payload: Buffer.from('the-secret-i-typed') })
  socket.send({ cmd: 'the-secret-i-typed' })
  await socket.roundTrip()
  const noted = server.log.records.filter(({ message }) => message === 'message from a client')
  expect(noted.map(({ fields }) => fields.kind)).toEqual([
    'hello',
    'terminal_input',
    'terminalInput',
    'malformed',
    'malformed',
  ])
  expect(noted[1]?.fields.bytes).toBe(52)
  expect(JSON.stringify(server.log.records)).not.toContain('the-secret-i-typed')
})
