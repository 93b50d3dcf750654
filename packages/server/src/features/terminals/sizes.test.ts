import { expect, test } from 'vitest'
import { ask, run, start, startDesk, TEXT } from '../../testing/live-terminals.ts'
import { allowOnly } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'

const isSize = (cols: number, rows: number) => (frame: { cols: number; rows: number }) =>
  frame.cols === cols && frame.rows === rows

const resize = (socket: SocketClient, cols: unknown, rows: unknown) =>
  ask(socket, { cmd: 'terminal_resize', cols, rows })

test('a terminal has the size of the owner’s tab that was used last', async () => {
  await using desk = await startDesk()
  const [one, other] = [await desk.tab(desk.ann, TEXT), await desk.tab(desk.ann, TEXT)]
  await start(one, { cols: 100, rows: 30 })
  await start(other, { cols: 60, rows: 20 })
  await one.next('terminal_resized', isSize(60, 20))
  await run(one, 'stty size', '30 100')
  await other.next('terminal_resized', isSize(100, 30))
  await resize(other, 70, 25)
  await one.next('terminal_resized', isSize(70, 25))
  await ask(other, { cmd: 'terminal_stop' })
  await one.next('terminal_resized', isSize(100, 30))
})

test('what is no size changes nothing', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab, { cols: 100, rows: 30 })
  for (const [cols, rows] of [
    [0, 0],
    [-5, 'x'],
    [70_000, 1.5],
    [null, undefined],
  ]) {
    await resize(tab, cols, rows)
  }
  await run(tab, 'stty size', '30 100')
  await resize(tab, 5000, 10)
  await run(tab, 'stty size', '10 1000')
})

test('without the owner it is the smallest of those who may type; who only watches has no say', async () => {
  await using desk = await startDesk()
  const names = ['bob', 'cleo', 'dave'] as const
  const [bob, cleo, dave] = await Promise.all(names.map((name) => desk.server.person(name)))
  if (!bob || !cleo || !dave) throw new Error('nobody came')
  const watch = ['join-workspace', 'spectate-on-shared-terminals'] as const
  await allowOnly(desk.ann, desk.workspaceId, [
    [bob, watch],
    [cleo, [...watch, 'code-in-shared-terminals']],
    [dave, [...watch, 'code-in-shared-terminals']],
  ])
  const hers = await desk.tab(desk.ann, TEXT)
  await start(hers, { cols: 100, rows: 30 })
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  const [spectator, one, other] = [await desk.tab(bob, TEXT), await desk.tab(cleo, TEXT), await desk.tab(dave, TEXT)]
  for (const [socket, cols, rows] of [
    [spectator, 20, 5],
    [one, 90, 20],
    [other, 70, 25],
  ] as const) {
    await resize(socket, cols, rows)
    const joined = await ask(socket, { cmd: 'join_shared_terminal', user_id: desk.ann.id, window_id: '@1' })
    expect(joined).toMatchObject({ cols: 100, rows: 30 })
  }
  await run(one, 'stty size', '30 100')
  await hers.close()
  await spectator.next('terminal_resized', isSize(70, 20))
  await ask(other, { cmd: 'leave_shared_terminal' })
  await spectator.next('terminal_resized', isSize(90, 20))
  await ask(one, { cmd: 'leave_shared_terminal' })
  const back = await desk.tab(desk.ann, TEXT)
  await start(back, { cols: 110, rows: 40 })
  await spectator.next('terminal_resized', isSize(110, 40))
  const sizes = spectator.frames.filter((frame) => frame.type === 'terminal_resized')
  expect(sizes).not.toContainEqual(expect.objectContaining({ cols: 20 }))
})
