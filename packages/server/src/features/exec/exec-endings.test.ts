import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ExecClient, homeOf } from '../../testing/exec-client.ts'
import { makeWorkspace, openLocalEngine } from '../../testing/live-workspace.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
let bob: Person
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  bob = await server.person('bob')
})
afterAll(() => server[Symbol.asyncDispose]())

/** Has no ear for polite signals but to write them down, nor has its child, and both write down every moment. */
const STUBBORN = `trap "echo >> asked" TERM HUP INT
(while :; do date +%N >> child.diary; sleep 0.02; done) &
echo up
while :; do date +%N >> parent.diary; sleep 0.02; done`

interface Scene {
  readonly client: ExecClient
  readonly workspaceId: string
  readonly id: string
}

/** Bob, who may run commands, in a workspace of Ann's, with a command that runs. */
async function scene(more: object = {}): Promise<Scene> {
  const workspaceId = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${workspaceId}/roles/coders`, { email: bob.email }))
  const client = await ExecClient.open(server, { person: bob, workspaceId, caps: ['exec2'] })
  onTestFinished(async () => {
    await client.socket.close()
    await succeed(ann.post(`/workspaces/${workspaceId}/stop`))
  })
  const { id } = await client.start(['sh', '-c', STUBBORN], more)
  await expect.poll(() => client.text(id, 'stdout')).toBe('up\n')
  return { client, workspaceId, id }
}

/** Resolves when neither the command nor its child writes anything any more. */
async function isSilent(workspaceId: string): Promise<void> {
  const lengths = () =>
    ['parent.diary', 'child.diary'].map((name) => {
      const path = join(homeOf(server, workspaceId), name)
      return existsSync(path) ? readFileSync(path).length : 0
    })
  let before = [-1]
  await expect
    .poll(
      () => {
        const now = lengths()
        const isSame = now.join() === before.join()
        before = now
        return isSame
      },
      { interval: 300 },
    )
    .toBe(true)
}

/** Not killed at once. */
const wasAsked = (workspaceId: string) => existsSync(join(homeOf(server, workspaceId), 'asked'))

type Ending = [string, (scene: Scene) => unknown, { code: number; signal?: string }, object?]

const killings: Ending[] = [
  ['a stop of the command', ({ client, id }) => client.tell('exec_stop', id), { code: 137, signal: 'KILL' }],
  ['a signal', ({ client, id }) => client.tell('exec_signal', id, { signal: 'KILL' }), { code: 137, signal: 'KILL' }],
  ['its time', () => server.clock.advance(5_000), { code: 124 }, { timeout_s: 5 }],
  ['leaving', ({ client }) => client.socket.send({ cmd: 'workspace_disconnect' }), { code: 137, signal: 'KILL' }],
  [
    'opening another workspace',
    async ({ client }) => {
      const workspaceId = await makeWorkspace(bob)
      client.socket.send({ cmd: 'workspace_connect', workspaceId })
    },
    { code: 137, signal: 'KILL' },
  ],
  [
    'the permission taken away',
    ({ workspaceId }) =>
      succeed(ann.patch(`/workspaces/${workspaceId}/roles`, { email: bob.email, role: 'spectators' })),
    { code: 137, signal: 'KILL' },
  ],
  [
    'the workspace out of reach',
    ({ workspaceId }) => succeed(ann.delete(`/workspaces/${workspaceId}/roles/coders/${bob.id}`)),
    { code: 137, signal: 'KILL' },
  ],
]

const ends: Ending[] = [
  [
    'a stop of the workspace',
    ({ workspaceId }) => succeed(ann.post(`/workspaces/${workspaceId}/stop`)),
    { code: 137, signal: 'KILL' },
  ],
  [
    'the death of the workspace',
    async ({ client }) => {
      // Its parent is the agent, and with it goes everything.
      client.socket.send({ cmd: 'exec_start', command: ['sh', '-c', 'kill -9 $PPID'] })
      const isToldOf = () =>
        client.socket.frames.some((frame) => frame.type === 'event' && frame.event.name === 'container_died')
      await expect
        .poll(() => {
          server.clock.advance(100)
          return isToldOf()
        })
        .toBe(true)
    },
    { code: 137, signal: 'KILL' },
  ],
]

describe('however a command ends, it is told once, and nothing of it is left', () => {
  async function check(its: Scene, exit: object): Promise<void> {
    const { exec_id, type, ...told } = await its.client.exit(its.id)
    expect(told).toEqual(exit)
    await isSilent(its.workspaceId)
    await its.client.socket.roundTrip()
    expect(its.client.exitCount(its.id)).toBe(1)
    const types = its.client.socket.frames.flatMap((frame) => ('exec_id' in frame ? [frame.type] : []))
    expect(types).toEqual(['exec_started', 'exec_output', 'exec_exit'])
  }

  test.each(killings)('at once: %s', async (_, end, exit, more = {}) => {
    const its = await scene(more)
    await end(its)
    await check(its, exit)
    expect(wasAsked(its.workspaceId)).toBe(false)
  })

  test.each(ends)('with the workspace: %s', async (_, end, exit) => {
    const its = await scene()
    await end(its)
    await check(its, exit)
  })

  test('the connection lost: nobody is there to be told', async () => {
    const { client, workspaceId } = await scene()
    client.socket.terminate()
    await isSilent(workspaceId)
    expect(wasAsked(workspaceId)).toBe(true)
  })

  test('the permission kept, whatever else changes: it runs on', async () => {
    const { client, workspaceId, id } = await scene()
    await succeed(ann.patch(`/workspaces/${workspaceId}/roles`, { email: bob.email, role: 'collaborators' }))
    await client.socket.roundTrip()
    expect(client.exitCount(id)).toBe(0)
  })
})

test('a lost connection gives a command a moment to tidy up', async () => {
  const { client, workspaceId } = await scene()
  const tidy = await client.start([
    'sh',
    '-c',
    'trap "echo tidy > tidied; exit" TERM; echo up; while :; do sleep 0.02; done',
  ])
  await expect.poll(() => client.text(tidy.id, 'stdout')).toBe('up\n')
  client.socket.terminate()
  await expect.poll(() => existsSync(join(homeOf(server, workspaceId), 'tidied'))).toBe(true)
})

test('stop, time and end at the same moment are one end', async () => {
  const { client, workspaceId, id } = await scene({ timeout_s: 5 })
  const both = await client.start(['sh', '-c', 'until test -e go; do sleep 0.02; done'], { timeout_s: 5 })
  await writeFile(join(homeOf(server, workspaceId), 'go'), '')
  for (const one of [id, both.id]) {
    client.tell('exec_stop', one)
    client.tell('exec_signal', one, { signal: 'KILL' })
    client.tell('exec_stop', one)
  }
  await client.exit(id)
  await client.exit(both.id)
  server.clock.advance(6_000)
  await client.socket.roundTrip()
  expect([client.exitCount(id), client.exitCount(both.id)]).toEqual([1, 1])
})

test('a command that cannot be asked for, because the workspace has just stopped, is refused', async () => {
  const { client, workspaceId, id } = await scene()
  await succeed(ann.post(`/workspaces/${workspaceId}/stop`))
  await client.exit(id)
  client.socket.send({ cmd: 'exec_start', exec_id: 'later', command: ['true'] })
  expect(await client.socket.next('error')).toMatchObject({ code: 'container_gone', cmd: 'exec_start' })
})

test('a client that starts and kills without end is refused until the workspace has caught up', async () => {
  const workspaceId = await makeWorkspace(ann)
  const { socket } = await ExecClient.open(server, { person: ann, workspaceId, caps: ['req'] })
  onTestFinished(() => socket.close())
  const { agent } = server.app.lifecycle.requireRunning(workspaceId)
  const freeze = 'agent=$PPID; (sleep 2; kill -CONT $agent) & kill -STOP $agent'
  agent.exec({ argv: ['sh', '-c', freeze], login: false, cwd: '/', env: {} })
  await expect.poll(() => agent.ping({ signal: AbortSignal.timeout(100) }).catch(() => 'frozen')).toBe('frozen')
  for (let time = 0; time < 100; time++) socket.send({ cmd: 'exec_start', command: ['sleep', '60'], req: String(time) })
  const answers = () => socket.frames.filter(({ req }) => req !== undefined)
  await expect.poll(answers).toHaveLength(100)
  expect(answers().filter((frame) => frame.type === 'error' && frame.code === 'conflict')).toHaveLength(91)
  await expect
    .poll(() => {
      socket.send({ cmd: 'exec_start', command: ['echo', 'again'] })
      return socket.frames.some(({ type }) => type === 'exec_exit')
    })
    .toBe(true)
})
