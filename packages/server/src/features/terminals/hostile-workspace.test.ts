import { expect, test } from 'vitest'
import { connectPeer } from '../../testing/agent-peer.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { ask, start, startDesk, TEXT } from '../../testing/live-terminals.ts'
import { allowOnly } from '../../testing/live-workspace.ts'
import { ContainerWindows } from './container-windows.ts'
import { labelOf } from './window.ts'

/** What somebody who holds the workspace could do: a terminal that claims to be a window of anybody. */
const forge = (ownerId: string, n: number, isShared: boolean) => ({
  id: `w${n}`,
  label: labelOf({ n, ownerId, name: 'forged', isShared, channel: n }),
  cols: 80,
  rows: 24,
  cwd: '/',
  env: {},
})

test('a workspace that says its windows are a stranger’s tells the stranger nothing', async () => {
  await using desk = await startDesk()
  const eve = await desk.server.person('eve')
  const stranger = await desk.server.socket(eve.token)
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  const { terminals } = desk.running().agent
  const openAndClose = async (n: number) => {
    await terminals.open(forge(eve.id, n, false))
    await ask(tab, { cmd: 'terminal_list_windows' })
    await terminals.close(`w${n}`)
    await expect.poll(async () => (await terminals.list()).terminals).toHaveLength(1)
    await ask(tab, { cmd: 'terminal_list_windows' })
    await stranger.roundTrip()
    return stranger.frames.filter(({ type }) => type === 'terminals_changed').length
  }
  expect(await openAndClose(50)).toBe(0)
  await allowOnly(desk.ann, desk.workspaceId, [[eve, ['join-workspace', 'code-in-isolation']]])
  expect(await openAndClose(51)).toBe(1)
})

test('windows that end together are told of in one list', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  const { terminals } = desk.running().agent
  const forged = Array.from({ length: 5 }, (_, at) => forge(desk.ann.id, 60 + at, true))
  for (const one of forged) await terminals.open(one)
  tab.send({ cmd: 'terminal_list_windows' })
  await tab.next('terminal_windows', ({ windows }) => windows.length === 6)
  const before = tab.frames.length
  await Promise.all(forged.map(({ id }) => terminals.close(id)))
  await expect.poll(async () => (await terminals.list()).terminals).toHaveLength(1)
  await ask(tab, { cmd: 'terminal_list_windows' })
  const told = tab.frames.slice(before).map(({ type }) => type)
  expect(told.filter((type) => type === 'shared_terminal_deleted')).toHaveLength(5)
  expect(told.filter((type) => type === 'shared_terminals')).toHaveLength(1)
})

test('whoever waits for an agent that does not answer is let go when the container, or the server, ends', async () => {
  const { agent } = await connectPeer(() => {})
  const over = new AbortController()
  const windows = new ContainerWindows({ agent: () => agent, ended: over.signal, clock: new FakeClock() })
  const waiting = Promise.allSettled([windows.reload(), windows.reload()])
  await expect.poll(() => agent.callCount).toBe(1)
  over.abort()
  const gone = { status: 'rejected', reason: expect.objectContaining({ code: 'container_gone' }) }
  expect(await waiting).toEqual([gone, gone])
  expect(agent.callCount).toBe(0)
})
