import { expect, test } from 'vitest'
import { ask, BYTES, run, start, startDesk, TEXT, type } from '../../testing/live-terminals.ts'
import { allowOnly } from '../../testing/live-workspace.ts'
import { SYSTEM } from '../lifecycle/lifecycle-news.ts'

test('a window ends with its shell: who watches is told how, and the next start opens a new one', async () => {
  await using desk = await startDesk()
  const [tab, other] = [await desk.tab(desk.ann, TEXT), await desk.tab(desk.ann, TEXT)]
  const { started } = await start(tab)
  await start(other)
  type(tab, 'echo la""st; exit 3\r')
  for (const socket of [tab, other]) {
    expect(await socket.next('terminal_exited')).toEqual({
      type: 'terminal_exited',
      channel: started.channel,
      reason: 'exited',
      code: 3,
    })
    expect(socket.output).toContain('last')
    await socket.next('terminal_windows', ({ windows }) => windows.length === 0)
  }
  expect(await ask(tab, { cmd: 'terminal_input', data: 'x' })).toMatchObject({ code: 'not_connected' })
  expect((await start(tab)).started).toMatchObject({ window_id: '@2', resumed: false })
})

test('a client that knows nothing of endings is shown another of its windows, and at last a new one', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  await start(tab)
  await run(tab, 'x=one; echo re""ady', 'ready')
  tab.send({ cmd: 'terminal_new_window' })
  await tab.next('terminal_windows', ({ windows }) => windows.length === 2)
  tab.send({ cmd: 'terminal_select_window', window_id: '@2' })
  await run(tab, 'x=two; echo re""ady', 'ready')
  type(tab, 'exit\r')
  await tab.next('terminal_windows', ({ windows }) => windows.length === 1)
  await tab.until(() => tab.frames.filter((frame) => frame.type === 'terminal_output' && frame.screen).length === 3)
  await run(tab, 'echo "<$x>"', '<one>')
  type(tab, 'exit\r')
  await tab.next('terminal_windows', ({ windows }) => windows[0]?.id === '@3')
  await tab.until(() => tab.frames.filter((frame) => frame.type === 'terminal_output' && frame.screen).length === 4)
  await run(tab, 'echo "<$x>"', '<>')
  const lists = tab.frames.flatMap((frame) => (frame.type === 'terminal_windows' ? [frame.windows.length] : []))
  expect(lists).not.toContain(0)
})

test('tabs that know nothing of endings and lose their last window together get one in its place', async () => {
  await using desk = await startDesk()
  const [one, other] = [await desk.tab(desk.ann), await desk.tab(desk.ann)]
  await start(one)
  await start(other)
  await run(one, 'echo re""ady', 'ready')
  type(one, 'exit\r')
  for (const tab of [one, other])
    await tab.until(() => tab.frames.filter((frame) => frame.type === 'terminal_output' && frame.screen).length === 2)
  await run(one, 'echo from-""one', 'from-one')
  await other.untilOutput('from-one')
  expect(await desk.running().agent.terminals.list()).toMatchObject({ opened: 2 })
})

test('a shell that ends at once is not replaced for ever', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  await start(tab)
  await run(tab, 'echo "exit 1" >> ~/.bash_profile; echo exit >> ~/.profile; echo re""ady', 'ready')
  type(tab, 'exit\r')
  await expect.poll(async () => desk.running().agent.terminals.list()).toMatchObject({ opened: 2, terminals: [] })
  await tab.next('terminal_windows', ({ windows }) => windows[0]?.id === '@2')
  await tab.next('terminal_windows', ({ windows }) => windows.length === 0)
})

test('a container that stops ends what is shown, and the next one has new windows', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  const { started } = await start(tab)
  const stopping = desk.server.app.lifecycle.stop(desk.workspaceId, { cause: 'stop', actor: SYSTEM })
  expect(await tab.next('terminal_exited')).toMatchObject({ channel: started.channel, reason: 'container' })
  await stopping
  expect(await ask(tab, { cmd: 'terminal_start' })).toMatchObject({ type: 'error', code: 'container_gone' })
  await desk.server.app.lifecycle.start(desk.workspaceId, { cause: 'api', actor: SYSTEM })
  const { started: again, windows } = await start(tab)
  expect([again.resumed, windows.map(({ id }) => id)]).toEqual([false, ['@1']])
  await run(tab, 'echo n""ew', 'new')
})

test('a container that dies ends what is shown', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  desk.running().agent.exec({ argv: ['sh', '-c', 'kill -9 $PPID'], login: false, cwd: '/', env: {} })
  await expect
    .poll(() => {
      desk.server.clock.advance(1_000)
      return tab.frames.find((frame) => frame.type === 'terminal_exited')
    })
    .toMatchObject({ reason: 'container' })
})

test('a socket that is gone takes nothing with it', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  await start(tab)
  await run(tab, 'x=kept; (sleep 0.3; echo do""ne) & echo re""ady', 'ready')
  tab.terminate()
  const back = await desk.tab(desk.ann)
  await start(back)
  await back.untilOutput('done')
  await run(back, 'echo "<$x>"', '<kept>')
  await expect.poll(() => desk.running().agent.callCount).toBe(1)
})

test('who may no longer have a terminal of their own loses it at once, and the shell stays', async () => {
  await using desk = await startDesk()
  const bob = await desk.server.person('bob')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'code-in-isolation']]])
  const tab = await desk.tab(bob, TEXT)
  await start(tab)
  await run(tab, 'x=kept; echo re""ady', 'ready')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace']]])
  expect(await tab.next('terminal_exited')).toMatchObject({ reason: 'kicked' })
  expect(await ask(tab, { cmd: 'terminal_input', data: 'x' })).toMatchObject({ code: 'not_connected' })
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'code-in-isolation']]])
  await start(tab)
  await run(tab, 'echo "<$x>"', '<kept>')
})

test('who may no longer watch loses what they watch at once, and hears no more of it', async () => {
  await using desk = await startDesk()
  const bob = await desk.server.person('bob')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'spectate-on-shared-terminals']]])
  const [hers, his] = [await desk.tab(desk.ann, TEXT), await desk.tab(bob, BYTES)]
  await start(hers)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  await ask(his, { cmd: 'join_shared_terminal', user_id: desk.ann.id, window_id: '@1' })
  await his.next('shared_terminals', ({ terminals }) => terminals[0]?.viewers.length === 1)
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace']]])
  expect(await his.next('terminal_exited')).toMatchObject({ reason: 'kicked' })
  await his.next('shared_terminals', ({ terminals }) => terminals.length === 0)
  await hers.next('shared_terminals', ({ terminals }) => terminals[0]?.viewers.length === 0)
  await run(hers, 'echo un""seen', 'unseen')
  expect(his.output).not.toContain('unseen')
})

test('what is typed and what is printed keep a workspace from being idle', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  await start(tab)
  await run(tab, 'echo re""ady', 'ready')
  const idle = () => desk.server.app.lifecycle.status({ id: desk.workspaceId })
  desk.server.clock.advance(100_000)
  expect(idle()).toMatchObject({ idleSeconds: 100 })
  type(tab, 'read x; read x; echo la""ter\r')
  await expect.poll(idle).toMatchObject({ idleSeconds: 0 })
  await tab.untilOutput('read x')
  const other = await desk.tab(desk.ann, TEXT)
  await start(other)
  desk.server.clock.advance(50_000)
  const { terminals } = await desk.running().agent.terminals.list()
  desk.running().agent.exec({
    argv: ['sh', '-c', `echo printed > /proc/${terminals[0]?.pid}/fd/1`],
    login: false,
    cwd: '/',
    env: {},
  })
  await tab.untilOutput('printed')
  expect(idle()).toMatchObject({ idleSeconds: 0 })
})

test('showing a terminal keeps a workspace from being idle, and a new size of the screen does not', async () => {
  await using desk = await startDesk()
  const idle = () => desk.server.app.lifecycle.status({ id: desk.workspaceId })
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  // A program that says nothing, whatever happens to its terminal.
  await run(tab, 'stty -echo; echo re""ady; exec sleep 1000', 'ready')
  for (const frame of [
    { cmd: 'terminal_start' },
    { cmd: 'terminal_select_window', window_id: '@1' },
    { cmd: 'share_window', window_id: '@1' },
    { cmd: 'join_shared_terminal', user_id: desk.ann.id, window_id: '@1' },
  ]) {
    desk.server.clock.advance(30_000)
    expect(idle()).toMatchObject({ idleSeconds: 30 })
    await ask(tab, frame)
    if (frame.cmd !== 'share_window') expect(idle(), frame.cmd).toMatchObject({ idleSeconds: 0 })
    else desk.running().touch()
  }
  desk.server.clock.advance(30_000)
  await ask(tab, { cmd: 'terminal_resize', cols: 50, rows: 10 })
  await tab.next('terminal_resized')
  expect(idle()).toMatchObject({ idleSeconds: 30 })
})
