import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ContainerEngine } from '../../engine/container-engine.ts'
import { connect, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import { engineWith } from '../../testing/open-machine.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
/** While there is one, no container is made. */
let gate: PromiseWithResolvers<void> | undefined
beforeAll(async () => {
  server = await startAccounts({
    openEngine: async (folder) => {
      const engine = await openLocalEngine(folder)
      const run: ContainerEngine['run'] = async (spec, options) => {
        await gate?.promise
        return engine.run(spec, options)
      }
      return engineWith(engine, { run })
    },
  })
  ann = await server.person('ann')
})
afterAll(() => server[Symbol.asyncDispose]())

const STAGES = ['admission', 'create', 'start', 'ready_wait'].map((stage) => `container_progress ${stage}`)
const opening = (socket: SocketClient, from: number) =>
  story(socket, from).filter((what) => what.startsWith('container_progress') || what === 'container_ready')

test('those who asked for it are told the stages of a start before it is ready, also when they join it late', async () => {
  const id = await makeWorkspace(ann)
  const caps = ['progress'] as const
  const [first, late] = [await server.socket(ann.token, { caps }), await server.socket(ann.token, { caps })]
  const plain = await server.socket(ann.token)
  gate = Promise.withResolvers()
  first.send({ cmd: 'workspace_connect', workspaceId: id })
  await first.next('container_progress', ({ stage }) => stage === 'create')
  for (const socket of [late, plain]) socket.send({ cmd: 'workspace_connect', workspaceId: id })
  await late.next('container_progress', ({ stage }) => stage === 'create')
  gate.resolve()
  gate = undefined
  for (const socket of [first, late, plain]) await socket.next('container_ready')
  expect([first, late, plain].map((socket) => opening(socket, 0))).toEqual([
    [...STAGES, 'container_ready'],
    [...STAGES, 'container_ready'],
    ['container_ready'],
  ])
  expect(first.frames.find(({ type }) => type === 'container_progress')).toEqual({
    type: 'container_progress',
    workspaceId: id,
    stage: 'admission',
    elapsed_ms: 0,
  })
})

test('a workspace that runs is opened without stages', async () => {
  const id = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${id}/start`))
  const socket = await server.socket(ann.token, { caps: ['progress'] })
  await connect(socket, id)
  expect(opening(socket, 0)).toEqual(['container_ready'])
})

test('those who are in a workspace see the stages when it is started again', async () => {
  const id = await makeWorkspace(ann)
  const socket = await server.socket(ann.token, { caps: ['progress'] })
  await connect(socket, id)
  const from = socket.frames.length
  socket.send({ cmd: 'restart_container' })
  await socket.next('event', ({ event }) => event.name === 'container_ready')
  expect(opening(socket, from)).toEqual(STAGES)
})
