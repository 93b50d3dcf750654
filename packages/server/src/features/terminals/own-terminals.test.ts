import { expect, test } from 'vitest'
import { ask, BYTES, run, start, startDesk, TEXT, type } from '../../testing/live-terminals.ts'
import { allowOnly } from '../../testing/live-workspace.ts'

const term = (n: number, index: number, active: boolean, name = 'term') => ({ id: `@${n}`, index, name, active })

test('a terminal shows a login shell in the person’s home, which knows who they are', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  const { started, windows, terminals } = await start(tab, { cols: 90, rows: 20 })
  expect([started, windows, terminals]).toEqual([{ type: 'terminal_started' }, [term(1, 0, true)], []])
  await run(
    tab,
    'stty size; pwd; echo "$HOME|$SVCWS_USER_ID|$SVCWS_USER_HANDLE|$SSH_AUTH_SOCK|$TERM"',
    'xterm-256color',
  )
  expect(tab.output).toContain('20 90\r\n/home/svc\r\n')
  const socket = `/tmp/svc-ssh-agent-${desk.ann.id}.sock`
  expect(tab.output).toContain(`/home/svc|${desk.ann.id}|ann|${socket}|xterm-256color`)
})

test('what comes with a terminal comes in order: that it started, the screen, the windows, what is shared', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  const from = tab.frames.length
  await start(tab)
  const types = tab.frames.slice(from).map((frame) => frame.type)
  const interesting = ['terminal_started', 'terminal_output', 'terminal_windows', 'shared_terminals'] as const
  const order = interesting.map((wanted) => types.indexOf(wanted))
  expect(order).toEqual(order.toSorted((one, other) => one - other))
  expect(order).not.toContain(-1)
  const screen = tab.frames.slice(from).find((frame) => frame.type === 'terminal_output')
  expect(screen).toEqual({ type: 'terminal_output', data: expect.stringContaining('\x1bc'), screen: true })
})

test('a client that asks for more is told where it is', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, BYTES)
  const { started } = await start(tab, { cols: 100, rows: 30 })
  expect(started).toMatchObject({ window_id: '@1', resumed: false, cols: 100, rows: 30, offset: expect.any(Number) })
  await tab.untilOutput('$ ')
  expect(new Set(tab.binary.map(({ channel }) => channel))).toEqual(new Set([started.channel]))
  expect(tab.binary[0]).toMatchObject({ kind: 'terminalScreen', offset: started.offset })
  const outputs = tab.binary.slice(1)
  expect(outputs.every(({ kind }) => kind === 'terminalOutput')).toBe(true)
  let at = started.offset ?? -1
  for (const { offset, payload } of outputs) {
    expect(offset).toBe(at)
    at += payload.length
  }
})

test('a second start is answered with the same terminal as it is', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  const first = await start(tab)
  await run(tab, 'x=kept; echo re""ady', 'ready')
  const second = await start(tab)
  expect(second.started).toMatchObject({ window_id: '@1', channel: first.started.channel, resumed: false })
  await run(tab, 'echo "<$x>"', '<kept>')
})

test('tabs that begin at the same time have one first window between them', async () => {
  await using desk = await startDesk()
  const tabs = [await desk.tab(desk.ann), await desk.tab(desk.ann), await desk.tab(desk.ann)]
  const all = await Promise.all(tabs.map((tab) => start(tab)))
  expect(all.map(({ windows }) => windows)).toEqual(tabs.map(() => [term(1, 0, true)]))
})

test('two tabs of one person show the same, and each can type', async () => {
  await using desk = await startDesk()
  const [one, other] = [await desk.tab(desk.ann), await desk.tab(desk.ann, BYTES)]
  await start(one)
  await start(other)
  await run(one, 'echo from-""one', 'from-one')
  await other.untilOutput('from-one')
  type(other, 'echo from-""other\r')
  await one.untilOutput('from-other')
})

test('all tabs of one person learn of a new window, and so do their other sockets', async () => {
  await using desk = await startDesk()
  const [one, other] = [await desk.tab(desk.ann, TEXT), await desk.tab(desk.ann)]
  const elsewhere = await desk.server.socket(desk.ann.token)
  const bob = await desk.server.person('bob')
  const stranger = await desk.server.socket(bob.token)
  await start(one)
  await start(other)
  expect(await ask(one, { cmd: 'terminal_new_window', name: 'logs' })).toMatchObject({
    type: 'terminal_windows',
    windows: [term(1, 0, false), term(2, 1, true, 'logs')],
  })
  const isNew = ({ windows = [] }: { windows?: readonly unknown[] | undefined }) => windows.length === 2
  await other.next('terminal_windows', isNew)
  await elsewhere.next('terminals_changed', isNew)
  expect(await ask(one, { cmd: 'terminal_list_windows' })).toMatchObject({
    windows: [term(1, 0, true), term(2, 1, false, 'logs')],
  })
  expect(stranger.frames.map((frame) => frame.type)).not.toContain('terminals_changed')
})

test('selecting a window shows it on this connection alone', async () => {
  await using desk = await startDesk()
  const [one, other] = [await desk.tab(desk.ann, TEXT), await desk.tab(desk.ann, TEXT)]
  await start(one)
  await start(other)
  await ask(one, { cmd: 'terminal_new_window' })
  expect(await ask(one, { cmd: 'terminal_select_window', window_id: '@2' })).toMatchObject({
    type: 'terminal_started',
    window_id: '@2',
  })
  await run(one, 'echo in-""two', 'in-two')
  await run(other, 'echo in-""one', 'in-one')
  expect(one.output).not.toContain('in-one')
  expect(other.output).not.toContain('in-two')
  expect(await ask(other, { cmd: 'terminal_list_windows' })).toMatchObject({
    windows: [term(1, 0, true), term(2, 1, false)],
  })
})

test('a plain client selects by place, and simply sees the other window', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann)
  await start(tab)
  await run(tab, 'x=first; echo re""ady', 'ready')
  tab.send({ cmd: 'terminal_new_window' })
  await tab.next('terminal_windows', ({ windows }) => windows.length === 2)
  tab.send({ cmd: 'terminal_select_window', index: 1 })
  await run(tab, 'echo "<$x>"', '<>')
  tab.send({ cmd: 'terminal_select_window', window_id: '@1' })
  await run(tab, 'echo "<$x>"', '<first>')
  expect(tab.frames.filter((frame) => frame.type === 'terminal_started')).toHaveLength(1)
})

test('a window can be renamed and closed; its number is not used again', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  await ask(tab, { cmd: 'terminal_new_window' })
  expect(await ask(tab, { cmd: 'terminal_rename_window', index: 1, name: 'a b.c_d-e' })).toMatchObject({
    windows: [term(1, 0, false), term(2, 1, true, 'a b.c_d-e')],
  })
  expect(await ask(tab, { cmd: 'terminal_close_window', window_id: '@2' })).toMatchObject({
    windows: [term(1, 0, true)],
  })
  expect(await ask(tab, { cmd: 'terminal_new_window' })).toMatchObject({
    windows: [term(1, 0, false), term(3, 1, true)],
  })
})

const refused: [what: string, frame: { cmd: string; [field: string]: unknown }, code: string][] = [
  ['the last window', { cmd: 'terminal_close_window', window_id: '@1' }, 'conflict'],
  ['a window that is not there', { cmd: 'terminal_close_window', window_id: '@9' }, 'invalid'],
  ['no window', { cmd: 'terminal_close_window' }, 'invalid'],
  ['a place that is not there', { cmd: 'terminal_select_window', index: 5 }, 'invalid'],
  ['the service', { cmd: 'terminal_select_window', window_id: '@0' }, 'invalid'],
  ['a name with a slash', { cmd: 'terminal_rename_window', window_id: '@1', name: 'a/b' }, 'invalid'],
  ['a name that is too long', { cmd: 'terminal_new_window', name: 'x'.repeat(65) }, 'invalid'],
  ['an empty name', { cmd: 'terminal_new_window', name: '' }, 'invalid'],
]

test('a command about a window or a name that cannot be is refused, and the terminal stays', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  for (const [what, frame, code] of refused) {
    expect(await ask(tab, frame), what).toMatchObject({ type: 'error', code })
  }
  await run(tab, 'echo still-""here', 'still-here')
})

test('windows of others are out of reach, whoever owns the workspace', async () => {
  await using desk = await startDesk()
  const bob = await desk.server.person('bob')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'code-in-isolation']]])
  const [hers, his] = [await desk.tab(desk.ann, TEXT), await desk.tab(bob, TEXT)]
  await start(hers)
  expect((await start(his)).windows).toEqual([term(2, 0, true)])
  for (const cmd of ['terminal_select_window', 'terminal_close_window', 'terminal_rename_window']) {
    expect(await ask(hers, { cmd, window_id: '@2', name: 'x' })).toMatchObject({ type: 'error', code: 'invalid' })
    expect(await ask(his, { cmd, window_id: '@1', name: 'x' })).toMatchObject({ type: 'error', code: 'invalid' })
  }
  expect((await start(his, { window_id: '@1' })).started).toMatchObject({ window_id: '@2' })
})

test('without code-in-isolation every command about windows is denied, and only that', async () => {
  await using desk = await startDesk()
  const bob = await desk.server.person('bob')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'spectate-on-shared-terminals']]])
  const tab = await desk.tab(bob, TEXT)
  for (const cmd of [
    'terminal_start',
    'terminal_new_window',
    'terminal_select_window',
    'terminal_close_window',
    'terminal_rename_window',
    'terminal_list_windows',
  ]) {
    const { type: kind, ...rest } = await ask(tab, { cmd, window_id: '@1', name: 'x' })
    expect([kind, rest]).toEqual(['error', { message: 'Permission denied', cmd, req: expect.any(String) }])
  }
  expect(await desk.running().agent.terminals.list()).toMatchObject({ opened: 0 })
})

test('the window used last is the one that a new tab begins with', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  await ask(tab, { cmd: 'terminal_new_window' })
  await ask(tab, { cmd: 'terminal_new_window' })
  await ask(tab, { cmd: 'terminal_select_window', window_id: '@2' })
  const other = await desk.tab(desk.ann, TEXT)
  expect((await start(other)).started).toMatchObject({ window_id: '@2' })
  expect((await start(other, { window_id: '@1' })).started).toMatchObject({ window_id: '@1' })
})

test('a window that nobody looks at and whose shell ends is gone from the list', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  await run(tab, 'echo re""ady', 'ready')
  await ask(tab, { cmd: 'terminal_new_window' })
  const { terminals } = await desk.running().agent.terminals.list()
  const shell = terminals.find(({ id }) => id === 'w2')
  await run(tab, `kill -9 ${shell?.pid}; echo ki""lled`, 'killed')
  await expect.poll(async () => (await desk.running().agent.terminals.list()).terminals.length).toBe(1)
  desk.server.clock.advance(5_000)
  expect(await tab.next('terminal_windows', ({ windows }) => windows.length === 1)).toMatchObject({
    windows: [term(1, 0, true)],
  })
})

test('terminals whose label is not ours are passed over, whoever wrote it', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  const { started } = await start(tab)
  const { terminals } = desk.running().agent
  const shell = { cols: 80, rows: 24, cwd: '/', env: {} }
  const forged = { n: 7, owner: desk.ann.id, name: 'forged', shared: true, channel: started.channel }
  for (const [id, label] of [
    ['mine', ''],
    ['w5', 'nonsense'],
    ['w6', JSON.stringify({ ...forged, n: 5 })],
    ['w7', JSON.stringify(forged)],
    ['w8', JSON.stringify({ ...forged, n: 8, channel: 1, name: '\x1b[2J' })],
    ['w9', JSON.stringify({ ...forged, n: 9, channel: 2, owner: 'nobody' })],
  ] as const) {
    await terminals.open({ id, label, ...shell })
  }
  expect(await ask(tab, { cmd: 'terminal_list_windows' })).toMatchObject({ windows: [term(1, 0, true)] })
  expect(await ask(tab, { cmd: 'list_shared_terminals' })).toMatchObject({ terminals: [] })
  expect(await ask(tab, { cmd: 'terminal_new_window' })).toMatchObject({
    windows: [term(1, 0, false), term(10, 1, true)],
  })
})

test('nobody can have more than 64 windows', { timeout: 60_000 }, async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  for (let n = 2; n <= 64; n++) await ask(tab, { cmd: 'terminal_new_window' })
  expect(await ask(tab, { cmd: 'terminal_new_window' })).toMatchObject({ type: 'error', code: 'conflict' })
})
