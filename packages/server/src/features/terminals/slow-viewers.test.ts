import { createHash } from 'node:crypto'
import { type Capability, FLOW_WINDOW_BYTES } from '@svc/protocol/ws/capabilities'
import { expect, test } from 'vitest'
import { ask, BYTES, run, start, startDesk, TEXT, type } from '../../testing/live-terminals.ts'
import { allowOnly } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'

const FLOOD_BYTES = 20_000_000
/** Makes a file of lines and says its hash; then nothing is changed on its way to the screen. */
const PREPARE = `base64 /dev/urandom | head -c ${FLOOD_BYTES} > flood; sha256sum flood; stty -opost; echo re""ady`
const MARKED = 'printf "<<%s" FROM; cat flood; printf "%s>>" TO'
const MAX_GROWTH_BYTES = 100 * 1024 * 1024

/** Its last line cannot stand in what came before it. */
const FLOOD = 'head -c 15000000 /dev/urandom | base64; echo "<do""ne>"\r'
const FLOOD_END = '<done>'

/** Looks at the latest messages only: to search all that came each time would take longer than the flood. */
const untilLatest = (socket: SocketClient, text: string) =>
  socket.until(() => {
    const bytes = socket.binary.slice(-4).map(({ payload }) => Buffer.from(payload).toString())
    const texts = socket.frames.slice(-4).map((frame) => (frame.type === 'terminal_output' ? frame.data : ''))
    return [...bytes, ...texts].join('').includes(text)
  }, text)

const kinds: [what: string, caps: readonly Capability[] | undefined][] = [
  ['takes text', undefined],
  ['takes bytes', BYTES],
  ['says how far it is', [...BYTES, 'flow']],
]

test.each(kinds)(
  'a client that %s and reads nothing for a while misses nothing, and harms nobody',
  async (_what, caps) => {
    await using desk = await startDesk()
    const bob = await desk.server.person('bob')
    await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'code-in-isolation']]])
    const [tab, other] = [await desk.tab(desk.ann, caps), await desk.tab(bob)]
    const { started } = await start(tab)
    const channel = started.channel ?? 0
    if (caps?.includes('flow')) {
      tab.ws.on('message', () => {
        const last = tab.binary.at(-1)
        if (last) tab.send({ cmd: 'terminal_ack', channel, offset: last.offset + last.payload.length })
      })
    }
    await start(other)
    await run(tab, PREPARE, 'ready')
    const sum = /[0-9a-f]{64}/.exec(tab.output)?.[0]
    const printed = async () => (await desk.running().agent.terminals.list()).terminals[0]?.offset ?? 0
    const memory = () => process.memoryUsage.rss()
    const before = memory()
    type(tab, `${MARKED}\r`)
    tab.pause()
    let at = -1
    await expect
      .poll(
        async () => {
          const was = at
          at = await printed()
          return at > 2_000_000 && at === was
        },
        { interval: 300 },
      )
      .toBe(true)
    expect(at).toBeLessThan(FLOOD_BYTES)
    for (let count = 0; count < 5; count++) {
      const begun = performance.now()
      await run(other, `echo qui""ck${count}`, `quick${count}`)
      expect(performance.now() - begun).toBeLessThan(2_000)
    }
    expect(memory() - before).toBeLessThan(MAX_GROWTH_BYTES)
    tab.resume()
    await untilLatest(tab, 'TO>>')
    const flood = tab.output.slice(tab.output.indexOf('<<FROM') + 6, tab.output.lastIndexOf('TO>>'))
    expect(createHash('sha256').update(flood).digest('hex')).toBe(sum)
  },
)

test('a client that says how far it is, and then says nothing more, gets no more than a window of output', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, [...BYTES, 'flow'])
  const { started } = await start(tab)
  const { channel = 0, offset: begun = 0 } = started
  const position = () => {
    const last = tab.binary.at(-1)
    return last ? last.offset + last.payload.length : begun
  }
  type(tab, FLOOD)
  let at = -1
  await expect
    .poll(
      () => {
        const was = at
        at = position()
        return at - begun > FLOW_WINDOW_BYTES / 2 && at === was
      },
      { interval: 300 },
    )
    .toBe(true)
  expect(position() - begun).toBeLessThanOrEqual(FLOW_WINDOW_BYTES)
  tab.send({ cmd: 'terminal_ack', channel: channel + 1, offset: position() })
  await tab.roundTrip()
  const acknowledged = position()
  tab.send({ cmd: 'terminal_ack', channel, offset: acknowledged })
  await expect.poll(() => position() - acknowledged).toBeGreaterThan(FLOW_WINDOW_BYTES / 2)
  expect(position() - acknowledged).toBeLessThanOrEqual(FLOW_WINDOW_BYTES)
})

test('a tab that stands still keeps neither another tab nor the shell waiting, and is drawn anew', async () => {
  await using desk = await startDesk()
  const [tab, stalled] = [await desk.tab(desk.ann, BYTES), await desk.tab(desk.ann, BYTES)]
  await start(tab)
  await start(stalled)
  await run(tab, 'echo re""ady', 'ready')
  await stalled.untilOutput('ready')
  stalled.pause()
  type(tab, FLOOD)
  await untilLatest(tab, FLOOD_END)
  stalled.resume()
  await untilLatest(stalled, FLOOD_END)
  const screens = stalled.binary.filter(({ kind }) => kind === 'terminalScreen')
  expect(screens.length).toBeGreaterThan(1)
  await run(stalled, 'echo on""wards', 'onwards')
})

test('who watches and stands still keeps nobody waiting, and is drawn anew', async () => {
  await using desk = await startDesk()
  const bob = await desk.server.person('bob')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'spectate-on-shared-terminals']]])
  const [hers, his] = [await desk.tab(desk.ann, TEXT), await desk.tab(bob, BYTES)]
  await start(hers)
  await ask(hers, { cmd: 'share_window', window_id: '@1' })
  await ask(his, { cmd: 'join_shared_terminal', user_id: desk.ann.id, window_id: '@1' })
  his.pause()
  type(hers, FLOOD)
  await untilLatest(hers, FLOOD_END)
  his.resume()
  await untilLatest(his, FLOOD_END)
  expect(his.binary.filter(({ kind }) => kind === 'terminalScreen').length).toBeGreaterThan(1)
})
