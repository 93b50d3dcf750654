import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBinary } from '@svc/protocol/ws/binary-frames'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ExecClient, homeOf } from '../../testing/exec-client.ts'
import { makeWorkspace, openLocalEngine } from '../../testing/live-workspace.ts'
import { type AccountsServer, type Person, startAccounts } from '../../testing/start-accounts.ts'

const MIB = 1024 * 1024
/** Output that shows every gap and every byte out of its place. */
const NUMBERS = ['seq', '-f', '%015.0f', '1', '3300000']
const NUMBERS_BYTES = 3_300_000 * 16

let server: AccountsServer
let ann: Person
let workspaceId: string
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  workspaceId = await makeWorkspace(ann)
})
afterAll(() => server[Symbol.asyncDispose]())

async function open(caps: ('exec2' | 'bin')[] = ['exec2', 'bin']): Promise<ExecClient> {
  const client = await ExecClient.open(server, { person: ann, workspaceId, caps })
  onTestFinished(() => client.socket.close())
  return client
}

const sha256 = (pieces: Iterable<Uint8Array>) => {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

test.each([
  { form: 'binary messages', caps: ['exec2', 'bin'] as const },
  { form: 'text', caps: ['exec2'] as const },
])('50 MB of output arrive whole and in order, as $form', async ({ caps }) => {
  const client = await open([...caps])
  const { id, channel } = await client.start(NUMBERS)
  await client.socket.until(() => client.exitCount(id) === 1, 'the end')
  const binary = client.socket.binary.filter((frame) => frame.channel === channel)
  const pieces = caps.some((cap) => cap === 'bin')
    ? binary.map(({ payload }) => payload)
    : [client.output(id, 'stdout')]
  expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(NUMBERS_BYTES)
  expect(binary.every(({ payload }) => payload.length <= 64 * 1024)).toBe(true)
  const lines = Array.from({ length: 3300 }, (_, block) =>
    Buffer.from(Array.from({ length: 1000 }, (_, n) => `${String(block * 1000 + n + 1).padStart(15, '0')}\n`).join('')),
  )
  expect(sha256(pieces)).toBe(sha256(lines))
})

test.each([
  { form: 'binary messages', caps: ['exec2', 'bin'] as const },
  { form: 'text', caps: ['exec2'] as const },
])('20 MB of input arrive whole, as $form', async ({ caps }) => {
  const client = await open([...caps])
  const isBinary = caps.some((cap) => cap === 'bin')
  const bytes = randomBytes(20 * MIB)
  const { id, channel } = await client.start(['sh', '-c', 'sha256sum >&2'], isBinary ? {} : { stderr: 'merge' })
  for (let from = 0; from < bytes.length; from += 100_000) {
    const payload = bytes.subarray(from, from + 100_000)
    if (isBinary) client.socket.sendBinary({ kind: 'execStdin', channel, offset: 0, payload })
    else client.input(id, payload)
  }
  client.tell('exec_close_stdin', id)
  expect((await client.exit(id)).code).toBe(0)
  const told = isBinary
    ? Buffer.concat(client.socket.binary.map(({ payload }) => payload)).toString()
    : client.text(id, 'stdout')
  expect(told).toContain(sha256([bytes]))
})

test('a client that does not read holds up its own commands, and nobody else; the server keeps little for it', async () => {
  const stalled = await open()
  const before = process.memoryUsage()
  const { id, channel } = await stalled.start(['sh', '-c', `${NUMBERS.join(' ')}; touch written`])
  await stalled.socket.until(() => stalled.socket.binary.length > 0)
  stalled.socket.pause()
  const other = await open(['exec2'])
  for (let turn = 0; turn < 20; turn++) {
    expect(await other.shell(`echo ${turn}; head -c 300000 /dev/zero | wc -c`)).toBe(`${turn}\n300000\n`)
  }
  expect(existsSync(join(homeOf(server, workspaceId), 'written'))).toBe(false)
  const after = process.memoryUsage()
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * MIB)
  stalled.socket.resume()
  await stalled.socket.until(() => stalled.exitCount(id) === 1, 'the end')
  const bytes = stalled.socket.binary.filter((frame) => frame.channel === channel)
  expect(bytes.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(NUMBERS_BYTES)
})

test('a command that does not read its input holds up its client, and its end lets the client go on', async () => {
  const client = await open()
  const { id, channel } = await client.start(['sleep', '1000'], { timeout_s: 5 })
  const payload = Buffer.alloc(64 * 1024)
  let sent = 0
  for (let n = 0; n < 320; n++) {
    client.socket.ws.send(encodeBinary({ kind: 'execStdin', channel, offset: 0, payload }), () => {
      sent += payload.length
    })
  }
  await expect.poll(() => sent).toBeGreaterThan(MIB)
  const other = await open(['exec2'])
  for (let turn = 0; turn < 10; turn++) await other.shell('true')
  expect(sent).toBeLessThan(320 * payload.length)
  server.clock.advance(5_000)
  expect((await client.exit(id)).code).toBe(124)
  await client.socket.roundTrip()
  expect(sent).toBe(320 * payload.length)
})

test('a command that nobody feeds and one that nobody reads leave others of the same connection alone', async () => {
  const client = await open(['exec2'])
  const hungry = await client.start(['cat'])
  const { channel } = await client.start(['sh', '-c', 'head -c 600000 /dev/zero'])
  expect(channel).toBeGreaterThan(hungry.channel)
  const deaf = await client.start(['sleep', '1000'])
  client.input(deaf.id, Buffer.alloc(700_000))
  expect(await client.shell('echo still here')).toBe('still here\n')
  client.input(hungry.id, 'fed')
  client.tell('exec_close_stdin', hungry.id)
  expect((await client.exit(hungry.id)).code).toBe(0)
  expect(client.text(hungry.id, 'stdout')).toBe('fed')
  client.tell('exec_stop', deaf.id)
  await client.exit(deaf.id)
})
