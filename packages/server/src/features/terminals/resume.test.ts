import headless from '@xterm/headless'
import { expect, test } from 'vitest'
import { BYTES, run, start, startDesk, TEXT, type } from '../../testing/live-terminals.ts'
import type { SocketClient } from '../../testing/socket-client.ts'

/** Where the output stands, as a client that takes bytes knows it. */
function position({ binary }: SocketClient): number {
  const last = binary.at(-1)
  if (!last) throw new Error('nothing came')
  return last.kind === 'terminalOutput' ? last.offset + last.payload.length : last.offset
}

const bytesOf = ({ binary }: SocketClient): Buffer => Buffer.concat(binary.map(({ payload }) => payload))

/** All lines that a person sees, scrollback included, and the place of the cursor. */
async function screenOf(pieces: readonly Uint8Array[], size: { cols: number; rows: number }) {
  const terminal = new headless.Terminal({ ...size, scrollback: 20_000, allowProposedApi: true })
  for (const piece of pieces) await new Promise<void>((done) => terminal.write(piece, done))
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true))
  return { lines, cursor: [active.cursorX, active.cursorY] }
}

test('a tab that lost its socket gets exactly the bytes it missed', async () => {
  await using desk = await startDesk()
  const [tab, witness] = [await desk.tab(desk.ann, BYTES), await desk.tab(desk.ann, BYTES)]
  const { started } = await start(tab)
  const seen = await start(witness, { resume: { channel: started.channel ?? 0, offset: started.offset ?? 0 } })
  expect(seen.started).toMatchObject({ resumed: true, offset: started.offset })
  await run(tab, 'echo be""fore', 'before')
  const from = position(tab)
  tab.terminate()
  await run(witness, 'echo mis""sed; seq 1000; echo al""l', 'all')
  const back = await desk.tab(desk.ann, BYTES)
  const { started: again } = await start(back, { resume: { channel: started.channel ?? 0, offset: from } })
  expect(again).toMatchObject({ channel: started.channel, offset: from, resumed: true })
  await back.untilOutput('all')
  await run(witness, 'echo af""ter', 'after')
  await back.untilOutput('after')
  await expect.poll(() => position(back)).toBe(position(witness))
  const whole = bytesOf(witness)
  expect(bytesOf(back)).toEqual(whole.subarray(from - (started.offset ?? 0)))
})

test('what is no longer held is drawn anew', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, BYTES)
  const { started } = await start(tab)
  await run(tab, 'yes 123456789 | head -c 4000000; echo fl""ood', 'flood')
  const back = await desk.tab(desk.ann, BYTES)
  const { started: again } = await start(back, {
    resume: { channel: started.channel ?? 0, offset: started.offset ?? 0 },
  })
  expect(again.resumed).toBe(false)
  await back.untilOutput('flood')
  const screens = back.binary.filter(({ kind }) => kind !== 'terminalOutput')
  expect(screens.map(({ kind }) => kind).at(-1)).toBe('terminalScreen')
  expect(screens.length).toBeGreaterThan(1)
  expect(again.offset).toBe(screens.at(-1)?.offset)
})

test('a place in a terminal of another container is never gone on from', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, BYTES)
  const { started } = await start(tab)
  await run(tab, 'echo ol""d', 'old')
  await desk.server.app.lifecycle.stop(desk.workspaceId, { cause: 'stop', actor: { type: 'system' } })
  const back = await desk.tab(desk.ann, BYTES)
  const { started: again } = await start(back, { resume: { channel: started.channel ?? 0, offset: 0 } })
  expect(again).toMatchObject({ window_id: '@1', resumed: false })
  expect(again.channel).not.toBe(started.channel)
  await run(back, 'echo n""ew', 'new')
  expect(back.output).not.toContain('old')
})

test('who comes back sees what they would have seen, scrollback included', async () => {
  await using desk = await startDesk()
  const size = { cols: 80, rows: 24 }
  const witness = await desk.tab(desk.ann, BYTES)
  await start(witness, size)
  await run(
    witness,
    'seq 3000; printf "\\e[1;31mred\\e[0m \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\ 日本 😀\\n"; echo e""nd',
    'end',
  )
  type(witness, 'half a command')
  await witness.untilOutput('half a command')
  for (const caps of [BYTES, TEXT, undefined]) {
    const back = await desk.tab(desk.ann, caps)
    await start(back, size)
    await back.untilOutput('half a command')
    const drawn = caps === BYTES ? back.binary.map(({ payload }) => payload) : [Buffer.from(back.output)]
    expect(await screenOf(drawn, size)).toEqual(await screenOf([bytesOf(witness)], size))
  }
})

test('a character is never cut, however its bytes come', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  await start(tab)
  await run(
    tab,
    "printf '\\342\\202'; sleep 0.1; printf '\\254\\360\\237'; sleep 0.1; printf '\\230\\200\\n'; echo do\"\"ne",
    'done',
  )
  expect(tab.output).toContain('€😀\r\ndone')
  expect(tab.output).not.toContain('\ufffd')
  await run(tab, 'printf \'a\\377b\\n\'; echo bro""ken', 'broken')
  expect(tab.output).toContain('a\ufffdb')
})

test('the place that a client of text is told is one it can go on from, in the middle of a character too', async () => {
  await using desk = await startDesk()
  const tab = await desk.tab(desk.ann, TEXT)
  const { started } = await start(tab)
  await run(tab, "read -s x; printf 'cut\\342\\202'; read -s x; printf '\\254 who\"\"le\\n'", 'read')
  type(tab, '\r')
  await tab.untilOutput('cut')
  const last = tab.frames.findLast((frame) => frame.type === 'terminal_output')
  const offset = last?.type === 'terminal_output' ? last.offset : undefined
  tab.terminate()
  const back = await desk.tab(desk.ann, TEXT)
  const { started: again } = await start(back, { resume: { channel: started.channel ?? 0, offset: offset ?? 0 } })
  expect(again.resumed).toBe(true)
  type(back, '\r')
  await back.untilOutput('€ who')
})

test('an agent that is lost and found again is not noticed', async () => {
  await using desk = await startDesk()
  const [tab, text] = [await desk.tab(desk.ann, BYTES), await desk.tab(desk.ann)]
  const { started } = await start(tab)
  await start(text)
  const whole = await desk.tab(desk.ann, BYTES)
  await start(whole, { resume: { channel: started.channel ?? 0, offset: started.offset ?? 0 } })
  await run(tab, '(sleep 0.2; seq 2000; echo mean""while) & echo be""fore', 'before')
  desk.running().agent.close()
  type(tab, 'echo wai""ted\r')
  await tab.untilOutput('meanwhile')
  await tab.untilOutput('waited')
  await text.untilOutput('waited')
  expect(tab.binary.filter(({ kind }) => kind === 'terminalScreen')).toHaveLength(1)
  let at = started.offset ?? -1
  for (const { kind, offset, payload } of tab.binary) {
    if (kind !== 'terminalOutput') continue
    expect(offset).toBe(at)
    at += payload.length
  }
  expect(text.frames.filter((frame) => frame.type === 'terminal_output' && frame.screen)).toHaveLength(1)
})
