import { systemAgent } from '@svc/protocol/system-agent'
import { expect, test } from 'vitest'
import { ask, BYTES, run, start, startDesk, TEXT, type } from '../../testing/live-terminals.ts'
import { allowOnly } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import type { Person } from '../../testing/start-accounts.ts'

const WATCH = ['join-workspace', 'spectate-on-shared-terminals'] as const
const TYPE = [...WATCH, 'code-in-isolation', 'code-in-shared-terminals'] as const

/** Ann’s workspace, with Bob, who may watch, and Cleo, who may also type. */
async function startShared(options: Parameters<typeof startDesk>[0] = {}) {
  const desk = await startDesk(options)
  const [bob, cleo] = [await desk.server.person('bob'), await desk.server.person('cleo')]
  await allowOnly(desk.ann, desk.workspaceId, [
    [bob, WATCH],
    [cleo, TYPE],
  ])
  return { ...desk, bob, cleo }
}

const entry = (owner: Person, n: number, viewers: readonly Person[] = [], name = 'term') => ({
  user_id: owner.id,
  handle: owner.email.split('@')[0],
  window_name: name,
  window_id: `@${n}`,
  viewers: viewers.map(({ id, email }) => ({ user_id: id, email })),
  is_service: false,
})

const join = (socket: SocketClient, owner: Person, n: number) =>
  ask(socket, { cmd: 'join_shared_terminal', user_id: owner.id, window_id: `@${n}` })

const nextShared = (socket: SocketClient, length: number) =>
  socket.next('shared_terminals', ({ terminals }) => terminals.length === length)

test('a shared window can be watched by those who may, and everybody sees who does', async () => {
  await using desk = await startShared()
  const { ann, bob } = desk
  const [hers, his] = [await desk.tab(ann, TEXT), await desk.tab(bob, BYTES)]
  await start(hers)
  await run(hers, 'echo be""fore', 'before')
  expect(await ask(hers, { cmd: 'share_window', window_id: '@1' })).toMatchObject({ terminals: [entry(ann, 1)] })
  expect((await nextShared(his, 1)).terminals).toEqual([entry(ann, 1)])
  const started = await join(his, ann, 1)
  expect(started).toMatchObject({ shared_user_id: ann.id, shared_window: 'term', window_id: '@1', readOnly: true })
  await his.untilOutput('before')
  await hers.next('shared_terminals', ({ terminals }) => terminals[0]?.viewers[0]?.user_id === bob.id)
  await run(hers, 'echo af""ter', 'after')
  await his.untilOutput('after')
  his.send({ cmd: 'leave_shared_terminal' })
  await hers.next('shared_terminals', ({ terminals }) => terminals[0]?.viewers.length === 0)
  await run(hers, 'echo un""seen', 'unseen')
  expect(his.output).not.toContain('unseen')
})

test('who may only watch can neither type nor resize, and only the answers of a terminal pass', async () => {
  await using desk = await startShared()
  const [hers, his] = [await desk.tab(desk.ann, TEXT), await desk.tab(desk.bob, BYTES)]
  await start(hers, { cols: 100, rows: 30 })
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  const started = await join(his, desk.ann, 1)
  const channel = started.type === 'terminal_started' ? (started.channel ?? 0) : 0
  expect(await ask(his, { cmd: 'terminal_input', data: 'echo ha""cked\r' })).toMatchObject({
    type: 'error',
    message: 'Permission denied',
  })
  type(his, '\x1b[200~echo ha""cked\r\x1b[201~')
  type(his, '\x1b]52;c;aGFja2VkCg==\x07')
  his.sendBinary({ kind: 'terminalInput', channel, offset: 0, payload: Buffer.from('echo ha""cked\r') })
  his.send({ cmd: 'terminal_resize', cols: 20, rows: 5 })
  await run(hers, 'stty size; read -rs -d R x; echo "$x" | tr "\\033" "^"', '30 100')
  expect(await ask(his, { cmd: 'terminal_input', data: '\x1b[7;9R' })).toMatchObject({ type: 'ack' })
  await hers.untilOutput('^[7;9')
  expect(hers.output).not.toContain('hack')
})

test('from a shared window nobody comes to another one', async () => {
  await using desk = await startShared()
  const [hers, his] = [await desk.tab(desk.ann, TEXT), await desk.tab(desk.bob, TEXT)]
  await start(hers)
  await ask(hers, { cmd: 'terminal_new_window' })
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  expect(await join(his, desk.ann, 2)).toMatchObject({ type: 'error', code: 'invalid' })
  await join(his, desk.ann, 1)
  for (const cmd of ['terminal_select_window', 'terminal_close_window', 'terminal_list_windows']) {
    expect(await ask(his, { cmd, window_id: '@2' })).toMatchObject({ type: 'error', message: 'Permission denied' })
  }
  for (const cmd of ['share_window', 'create_shared_terminal', 'delete_shared_terminal']) {
    const frame = { cmd, user_id: desk.ann.id, window_id: '@1', name: 'x' }
    expect(await ask(his, frame)).toMatchObject({ type: 'error', message: 'Permission denied' })
  }
  await ask(hers, { cmd: 'terminal_select_window', window_id: '@2' })
  await run(hers, 'echo pri""vate', 'private')
  expect(his.output).not.toContain('private')
})

test('who may type in shared terminals can, and whether they may is decided when they join', async () => {
  await using desk = await startShared()
  const { ann, bob, cleo } = desk
  const [hers, theirs] = [await desk.tab(ann, TEXT), await desk.tab(cleo, TEXT)]
  await start(hers)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  expect(await join(theirs, ann, 1)).toMatchObject({ readOnly: false })
  await run(theirs, 'echo to""gether', 'together')
  await hers.untilOutput('together')
  await allowOnly(ann, desk.workspaceId, [
    [bob, WATCH],
    [cleo, WATCH],
  ])
  await run(theirs, 'echo sti""ll', 'still')
  expect(await join(theirs, ann, 1)).toMatchObject({ readOnly: true })
  expect(await ask(theirs, { cmd: 'terminal_input', data: 'x' })).toMatchObject({ message: 'Permission denied' })
})

test('ending the sharing ends it for those who watch, and for nobody and nothing else', async () => {
  await using desk = await startShared({ workspace: { service_command: 'sleep 1000' } })
  const { ann, bob, cleo } = desk
  const [hers, second] = [await desk.tab(ann, TEXT), await desk.tab(ann, TEXT)]
  const [his, theirs, plain] = [await desk.tab(bob, TEXT), await desk.tab(cleo, TEXT), await desk.tab(bob)]
  await start(hers)
  await start(second)
  await start(theirs)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  await ask(his, { cmd: 'join_shared_terminal', user_id: ann.id, window_id: '@1' })
  plain.send({ cmd: 'join_shared_terminal', user_id: ann.id, window_id: '@1' })
  await plain.next('terminal_started')
  expect(await ask(hers, { cmd: 'unshare_window', window_id: '@1' })).toMatchObject({
    terminals: [{ is_service: true }],
  })
  expect(await his.next('terminal_exited')).toMatchObject({ reason: 'kicked' })
  const deleted = { type: 'shared_terminal_deleted', user_id: ann.id, window_name: 'term', window_id: '@1' }
  for (const socket of [his, theirs, plain, second])
    expect(await socket.next('shared_terminal_deleted')).toEqual(deleted)
  await run(hers, 'echo mi""ne', 'mine')
  await second.untilOutput('mine')
  await run(theirs, 'echo the""irs', 'theirs')
  for (const socket of [his, plain]) expect(socket.output).not.toContain('mine')
  expect(await join(his, ann, 1)).toMatchObject({ type: 'error', code: 'invalid' })
  expect(await ask(hers, { cmd: 'unshare_window', window_id: '@1' })).toMatchObject({ type: 'shared_terminals' })
  expect(await ask(hers, { cmd: 'unshare_window', window_id: '@99' })).toMatchObject({ type: 'shared_terminals' })
  const { terminals } = await desk.running().agent.terminals.list()
  expect(terminals.map(({ id }) => id).toSorted()).toEqual(['service', 'w1', 'w2'])
})

test('what is shared stays shared without its owner, and when they come back', async () => {
  await using desk = await startShared()
  const { ann, bob } = desk
  const hers = await desk.tab(ann, TEXT)
  await start(hers)
  await run(hers, 'x=kept; echo re""ady', 'ready')
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  await hers.close()
  const his = await desk.tab(bob, TEXT)
  expect(await ask(his, { cmd: 'list_shared_terminals' })).toMatchObject({ terminals: [entry(ann, 1)] })
  await join(his, ann, 1)
  await his.untilOutput('ready')
  const back = await desk.tab(ann, TEXT)
  expect((await start(back)).terminals).toEqual([entry(ann, 1, [bob])])
  await run(back, 'echo "<$x>"', '<kept>')
  await his.untilOutput('<kept>')
})

test('what others do not let somebody watch, they do not even hear of', async () => {
  await using desk = await startShared()
  const { ann, bob } = desk
  const dave = await desk.server.person('dave')
  await allowOnly(ann, desk.workspaceId, [
    [bob, WATCH],
    [dave, ['join-workspace', 'code-in-isolation', 'share-terminals']],
  ])
  const [hers, his] = [await desk.tab(ann, TEXT), await desk.tab(dave, TEXT)]
  await start(hers)
  await start(his)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  expect((await his.next('shared_terminals')).terminals).toEqual([])
  expect(await ask(his, { cmd: 'list_shared_terminals' })).toMatchObject({ message: 'Permission denied' })
  expect(await join(his, ann, 1)).toMatchObject({ message: 'Permission denied' })
  expect(await ask(his, { cmd: 'share_window', window_id: '@2' })).toMatchObject({ terminals: [entry(dave, 2)] })
  expect((await nextShared(hers, 2)).terminals).toEqual([entry(ann, 1), entry(dave, 2)])
})

test('only windows of one’s own can be shared', async () => {
  await using desk = await startShared()
  const hers = await desk.tab(desk.ann, TEXT)
  await start(await desk.tab(desk.cleo, TEXT))
  await start(hers)
  expect(await ask(hers, { cmd: 'share_window', window_id: '@1' })).toMatchObject({ type: 'error', code: 'invalid' })
  expect(await ask(hers, { cmd: 'share_window', window_id: '@0' })).toMatchObject({ type: 'error', code: 'invalid' })
})

test('a new name of a shared window reaches everybody', async () => {
  await using desk = await startShared()
  const { ann } = desk
  const [hers, his] = [await desk.tab(ann, TEXT), await desk.tab(desk.bob, TEXT)]
  await start(hers)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  await ask(hers, { cmd: 'terminal_rename_window', window_id: '@1', name: 'demo' })
  await his.next('shared_terminals', ({ terminals }) => terminals[0]?.window_name === 'demo')
})

test('a shared terminal can be made and deleted, by its owner or the owner of the workspace', async () => {
  await using desk = await startShared()
  const { ann, bob, cleo } = desk
  const share = [...TYPE, 'share-terminals'] as const
  await allowOnly(ann, desk.workspaceId, [
    [bob, share],
    [cleo, share],
  ])
  const [hers, his, theirs] = [await desk.tab(ann, TEXT), await desk.tab(bob, TEXT), await desk.tab(cleo, TEXT)]
  const made = await ask(theirs, { cmd: 'create_shared_terminal', name: 'show' })
  expect(made).toMatchObject({ terminals: [entry(cleo, 1, [], 'show')] })
  await join(his, cleo, 1)
  await nextShared(his, 1)
  const from = his.frames.length
  const frame = { cmd: 'delete_shared_terminal', user_id: cleo.id, window_id: '@1' }
  expect(await ask(his, frame)).toMatchObject({ type: 'error', message: 'Permission denied' })
  expect(await ask(hers, frame)).toMatchObject({ type: 'shared_terminals', terminals: [] })
  await nextShared(his, 0)
  const told = his.frames.slice(from).map(({ type: kind }) => kind)
  const ends = told.slice(told.indexOf('terminal_exited'))
  expect(ends).toEqual(['terminal_exited', 'shared_terminal_deleted', 'shared_terminals'])
  expect(await his.next('terminal_exited')).toMatchObject({ reason: 'kicked' })
  expect(await theirs.next('shared_terminal_deleted')).toMatchObject({ window_id: '@1', window_name: 'show' })
  await expect.poll(async () => (await desk.running().agent.terminals.list()).terminals).toEqual([])
  await ask(theirs, { cmd: 'create_shared_terminal', name: 'again' })
  expect(await ask(theirs, { ...frame, window_id: '@2' })).toMatchObject({ terminals: [] })
})

test('the service is always there to be watched, and nobody can close it or take it back', async () => {
  await using desk = await startShared({ workspace: { service_command: 'echo I am the ser""vice; cat' } })
  const { ann, bob, cleo } = desk
  const service = { user_id: systemAgent.id, window_id: '@0' }
  const [hers, his, theirs] = [await desk.tab(ann, TEXT), await desk.tab(bob, TEXT), await desk.tab(cleo, TEXT)]
  expect(await ask(his, { cmd: 'list_shared_terminals' })).toMatchObject({
    terminals: [{ ...service, handle: systemAgent.handle, window_name: 'service-cmd', viewers: [], is_service: true }],
  })
  const joined = await ask(his, { cmd: 'join_shared_terminal', ...service })
  expect(joined).toMatchObject({ shared_user_id: systemAgent.id, readOnly: true, channel: 0 })
  await his.untilOutput('I am the service')
  type(his, 'not me\r')
  expect(await ask(theirs, { cmd: 'join_shared_terminal', ...service })).toMatchObject({ readOnly: false })
  await run(theirs, 'but m""e', 'but m""e')
  await his.untilOutput('but m""e')
  expect(his.output).not.toContain('not me')
  expect(await ask(hers, { cmd: 'delete_shared_terminal', ...service })).toMatchObject({ code: 'invalid' })
  expect(await ask(hers, { cmd: 'unshare_window', ...service })).toMatchObject({ terminals: [{ is_service: true }] })
  expect(await ask(his, { cmd: 'list_shared_terminals' })).toMatchObject({ terminals: [{ is_service: true }] })
})

test('a plain client that joins is told so, then shown all of it, then told who watches', async () => {
  await using desk = await startShared()
  const { ann, bob } = desk
  const [hers, his] = [await desk.tab(ann), await desk.tab(bob)]
  await start(hers)
  await run(hers, 'for n in $(seq 5000); do printf "%0100d\\n" $n; done; echo lo""ng', 'long')
  hers.send({ cmd: 'share_window', window_id: '@1' })
  await nextShared(his, 1)
  const from = his.frames.length
  his.send({ cmd: 'join_shared_terminal', user_id: ann.id, window_id: '@1' })
  const { terminals } = await nextShared(his, 1)
  expect(terminals).toEqual([entry(ann, 1, [bob])])
  const [started, ...others] = his.frames.slice(from)
  expect(started).toEqual({
    type: 'terminal_started',
    shared_user_id: ann.id,
    shared_window: 'term',
    readOnly: true,
  })
  expect(others.at(-1)?.type).toBe('shared_terminals')
  expect(others.slice(0, -1).every((frame) => frame.type === 'terminal_output' && frame.screen)).toBe(true)
  expect(his.output).toContain('long')
  await hers.next('shared_terminals', (frame) => frame.terminals[0]?.viewers.length === 1)
})

test('a service that ends while nobody watches it is gone from the list', async () => {
  await using desk = await startShared({ workspace: { service_command: 'cat' } })
  const his = await desk.tab(desk.bob, TEXT)
  expect(await ask(his, { cmd: 'list_shared_terminals' })).toMatchObject({ terminals: [{ is_service: true }] })
  const { terminals } = desk.running().agent
  await terminals.close('service')
  await expect.poll(async () => (await terminals.list()).terminals).toEqual([])
  desk.server.clock.advance(5_000)
  expect(await his.next('shared_terminal_deleted')).toMatchObject({ user_id: systemAgent.id, window_id: '@0' })
  await nextShared(his, 0)
})

test('who watched goes on where they were, but never in a service, which every container has', async () => {
  await using desk = await startShared({ workspace: { service_command: 'cat' } })
  const { ann, bob } = desk
  const [hers, his] = [await desk.tab(ann, TEXT), await desk.tab(bob, BYTES)]
  await start(hers)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  const joined = await join(his, ann, 1)
  const place = joined.type === 'terminal_started' ? joined : undefined
  const resume = { channel: place?.channel, offset: place?.offset }
  await run(hers, 'echo mis""sed', 'missed')
  const own = { cmd: 'join_shared_terminal', user_id: ann.id, window_id: '@1', resume }
  expect(await ask(his, own)).toMatchObject({ ...resume, resumed: true })
  const service = { cmd: 'join_shared_terminal', user_id: systemAgent.id, window_id: '@0' }
  await ask(his, service)
  expect(await ask(his, { ...service, resume: { channel: 0, offset: 0 } })).toMatchObject({ resumed: false })
})

test('somebody with two tabs counts twice', async () => {
  await using desk = await startShared()
  const { ann, bob } = desk
  const [hers, one, other] = [await desk.tab(ann, TEXT), await desk.tab(bob, TEXT), await desk.tab(bob, TEXT)]
  await start(hers)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  await join(one, ann, 1)
  await join(other, ann, 1)
  await hers.next('shared_terminals', ({ terminals }) => terminals[0]?.viewers.length === 2)
  one.terminate()
  await hers.next('shared_terminals', ({ terminals }) => terminals[0]?.viewers.length === 1)
})
