import { createHash, randomBytes } from 'node:crypto'
import { FLOW_STEP_BYTES } from '@svc/protocol/ws/capabilities'
import { expect, test } from 'vitest'
import { ask, BYTES, run, start, startDesk, TEXT, type } from '../../testing/live-terminals.ts'

const MEGABYTES = 1024 * 1024

/** Letters in lines that a terminal takes as they are. */
const lines = (bytes: number): string =>
  `${randomBytes(bytes)
    .toString('hex')
    .slice(0, bytes - 1)
    .replace(/.{999}/g, '$&\n')}\n`
const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex')

test('2 MB that are pasted arrive whole and in order, as text and as bytes', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, [...BYTES, 'flow'])
  const { started } = await start(tab)
  const channel = started.channel ?? 0
  const data = lines(2 * MEGABYTES)
  await run(tab, 'stty -echo; echo qu""iet', 'quiet')
  for (const way of ['text', 'bytes']) {
    type(tab, `cat > ${way}; sha256sum ${way}\r`)
    if (way === 'text') type(tab, data)
    else tab.sendBinary({ kind: 'terminalInput', channel, offset: 0, payload: Buffer.from(data) })
    type(tab, '\x04')
    await tab.untilOutput(`${sha256(data)}  ${way}`)
  }
})

test('a paste that makes more output than a client may have on its way does not stand still', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, [...BYTES, 'flow'])
  const { started } = await start(tab)
  const channel = started.channel ?? 0
  const position = () => {
    const last = tab.binary.at(-1)
    return last ? last.offset + last.payload.length : 0
  }
  let acknowledged = 0
  tab.ws.on('message', () => {
    if (position() - acknowledged < FLOW_STEP_BYTES) return
    acknowledged = position()
    tab.send({ cmd: 'terminal_ack', channel, offset: acknowledged })
  })
  await run(tab, 'stty -echo; echo qu""iet', 'quiet')
  type(tab, "sed 's/.*/&&&&&/' > /dev/stdout; echo do''ne\r")
  const data = lines(3 * MEGABYTES)
  for (let at = 0; at < data.length; at += 64 * 1024) type(tab, data.slice(at, at + 64 * 1024))
  type(tab, '\x04')
  const latest = () => tab.binary.slice(-3).map(({ payload }) => Buffer.from(payload).toString())
  await tab.until(() => latest().join('').includes('done'), 'the end')
  expect(position()).toBeGreaterThan(15 * MEGABYTES)
})

test('keys for a terminal that is no longer shown reach no other', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, BYTES)
  const { started } = await start(tab)
  const [channel, offset] = [started.channel ?? 0, 0]
  await ask(tab, { cmd: 'terminal_new_window' })
  await ask(tab, { cmd: 'terminal_select_window', window_id: '@2' })
  tab.send({ cmd: 'terminal_input', data: 'echo sta""le\r', channel })
  tab.sendBinary({ kind: 'terminalInput', channel, offset, payload: Buffer.from('echo sta""le\r') })
  expect(await ask(tab, { cmd: 'terminal_input', data: 'x', channel })).toMatchObject({
    type: 'error',
    code: 'not_connected',
  })
  await run(tab, 'echo fr""esh', 'fresh')
  expect(tab.output).not.toContain('sta')
  await ask(tab, { cmd: 'terminal_select_window', window_id: '@1' })
  await run(tab, 'echo se""en', 'seen')
  expect(tab.output).not.toContain('sta')
})

test('keys without a terminal are of no interest, unless somebody waits for an answer', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  type(tab, 'nothing')
  tab.send({ cmd: 'terminal_resize', cols: 100, rows: 30 })
  tab.send({ cmd: 'terminal_stop' })
  await tab.roundTrip()
  expect(tab.frames.filter((frame) => frame.type === 'error' && frame.cmd !== 'no such command')).toEqual([])
  expect(await ask(tab, { cmd: 'terminal_input', data: 'x' })).toMatchObject({ type: 'error', code: 'not_connected' })
  expect((await start(tab)).started).toMatchObject({ cols: 100, rows: 30 })
  expect(await ask(tab, { cmd: 'terminal_input', data: 'x' })).toMatchObject({ type: 'ack' })
  expect(await ask(tab, { cmd: 'terminal_stop' })).toMatchObject({ type: 'ack' })
  expect(await ask(tab, { cmd: 'terminal_input', data: 'x' })).toMatchObject({ type: 'error', code: 'not_connected' })
})

test('more than 16 Mi characters at once are refused, and the terminal stays', async () => {
  await using desk = await startDesk({ env: { SVCD_WEBSOCKET_MSG_SIZE_MAX: String(32 * MEGABYTES) } })
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  const data = 'x'.repeat(16 * MEGABYTES + 1)
  expect(await ask(tab, { cmd: 'terminal_input', data })).toMatchObject({ type: 'error', code: 'too_large' })
  await run(tab, 'echo still-""here', 'still-here')
})
