import headless from '@xterm/headless'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OutputRing } from './output-ring.ts'
import { Screen } from './screen.ts'

const SIZE = { cols: 40, rows: 10 }

async function terminalFed(chunks: readonly (Uint8Array | string)[]): Promise<InstanceType<typeof headless.Terminal>> {
  const terminal = new headless.Terminal({ ...SIZE, scrollback: 10_000, allowProposedApi: true })
  for (const chunk of chunks) await new Promise<void>((resolve) => terminal.write(chunk, resolve))
  return terminal
}

/** All that a person can see: each cell with its colours, the cursor, and the modes. */
async function picture(chunks: readonly (Uint8Array | string)[]): Promise<unknown> {
  const terminal = await terminalFed(chunks)
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, at) => {
    const line = active.getLine(at)
    const cells = Array.from({ length: SIZE.cols }, (__, column) => {
      const cell = line?.getCell(column)
      const looks = [cell?.getFgColor(), cell?.getBgColor(), cell?.isBold(), cell?.isInverse(), cell?.isUnderline()]
      return `${cell?.getChars() || ' '}${looks.join()}`
    })
    return cells.join('|')
  })
  return { type: active.type, lines, x: active.cursorX, y: active.cursorY, base: active.baseY, modes: terminal.modes }
}

function screenOver(ring: OutputRing, titles: string[] = []): Screen {
  return new Screen({ ring, size: SIZE, titled: (title) => titles.push(title), progressed: () => {} })
}

describe('a snapshot', () => {
  test.each([
    ['plain lines', 'one\r\ntwo\r\n'],
    ['colours that go on', '\x1b[31mred\x1b[1;44m more'],
    ['a long line that wraps', 'x'.repeat(95)],
    ['a full screen and scrollback', Array.from({ length: 1400 }, (_, line) => `line ${line}\r\n`).join('')],
    [
      'scrollback of long lines',
      Array.from({ length: 900 }, (_, line) => `${line} ${'w'.repeat(line % 100)}\r\n`).join(''),
    ],
    ['scrollback in colours', Array.from({ length: 1400 }, (_, line) => `\x1b[3${line % 8}mline ${line}\r\n`).join('')],
    [
      'scrollback with a colour that begins and ends',
      Array.from({ length: 1400 }, (_, line) => (line % 2 ? '\x1b[31mred\r\n' : '\x1b[0mplain\r\n')).join(''),
    ],
    ['one endless line', 'z'.repeat(40 * 1200)],
    ['empty lines', '\r\n'.repeat(1300)],
    ['the other screen, over scrollback', `${'a\r\n'.repeat(700)}\x1b[?1049h\x1b[5;5Hvi`],
    ['margins', '1\r\n2\r\n3\x1b[3;6r\x1b[4;2H'],
    ['a hidden cursor and the mouse', '\x1b[?25l\x1b[?1000h\x1b[?1006h'],
    ['modes', '\x1b[?1h\x1b[?2004h\x1b=\x1b[4h'],
    ['wide characters', '漢字かな交じり文'.repeat(20)],
  ])('shows %s, and what comes after it does the same', async (_, output) => {
    const ring = new OutputRing()
    ring.append(Buffer.from(output))
    const { bytes, offset } = await screenOver(ring).snapshot()
    expect(offset).toBe(ring.end)
    expect(await picture([bytes])).toEqual(await picture([output]))
    const more = 'after\r\n\n\n\n\n\n\n\x1b[2;2Hx\x1b[K'
    expect(await picture([bytes, more])).toEqual(await picture([output, more]))
  })

  test('shows the screen of any output, however it is cut', async () => {
    const part = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom('\r\n', '\n', '\r', '\t', '\b', 'word ', '漢字'),
      fc.integer({ min: 1, max: 12 }).map((row) => `\x1b[${row};5H`),
      fc.integer({ min: 0, max: 49 }).map((colour) => `\x1b[${colour}m`),
      fc.constantFrom('\x1b[K', '\x1b[2J', '\x1b[A', '\x1b[5C', '\x1b[L', '\x1b[M', '\x1b[?1049h', '\x1b[?1049l'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 60 }), fc.nat(50), async (parts, at) => {
        const ring = new OutputRing()
        const screen = screenOver(ring)
        const output = Buffer.from(parts.join('').toWellFormed())
        ring.append(output.subarray(0, at))
        screen.grew()
        await screen.snapshot()
        ring.append(output.subarray(at))
        const { bytes } = await screen.snapshot()
        const [shown, meant] = [await terminalFed([bytes]), await terminalFed([output])]
        expect(textOf(shown)).toEqual(textOf(meant))
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    ['a colour', 'text\x1b[3', '1mred', 4],
    ['an escape', 'text\x1b', '[31mred', 4],
    ['a title', 'text\x1b]0;ti', 'tle\x07after', 4],
    ['the end of a title', 'text\x1b]0;title\x1b', '\\after', 13],
    ['a character of two bytes', Buffer.from([0x61, 0xc3]), Buffer.from([0xbc, 0x62]), 1],
    ['a character of four bytes', Buffer.from([0x61, 0xf0, 0x9f, 0x98]), Buffer.from([0x80, 0x62]), 1],
    ['nothing', 'text ü', 'after', 7],
  ])('taken when %s is cut goes on before the cut', async (_, first, second, whole) => {
    const ring = new OutputRing()
    ring.append(Buffer.from(first))
    const { bytes, offset } = await screenOver(ring).snapshot()
    expect(offset).toBe(whole)
    ring.append(Buffer.from(second))
    expect(await picture([bytes, ring.copy(offset, ring.end)])).toEqual(await picture([ring.copy(0, ring.end)]))
  })

  test('can be asked for again at any moment, also when nothing has changed', async () => {
    const ring = new OutputRing()
    const screen = screenOver(ring)
    ring.append(Buffer.from('text'))
    const first = await screen.snapshot()
    expect(await screen.snapshot()).toEqual(first)
    expect(await Promise.all([screen.snapshot(), screen.snapshot()])).toEqual([first, first])
  })

  test('takes a change of size where it came in the output', async () => {
    const ring = new OutputRing()
    const screen = screenOver(ring)
    ring.append(Buffer.from('x'.repeat(60)))
    screen.resize({ cols: 80, rows: 5 })
    ring.append(Buffer.from('\r\nafter'))
    expect(await screen.snapshot()).toMatchObject({ cols: 80, rows: 5, offset: ring.end })
  })

  test('shows no trace of a size in which nothing was written', async () => {
    const ring = new OutputRing()
    const screen = screenOver(ring)
    const output = '\x1b[?1049hnot cut off'
    ring.append(Buffer.from(output))
    screen.resize({ cols: 2, rows: 2 })
    screen.resize(SIZE)
    expect(await picture([(await screen.snapshot()).bytes])).toEqual(await picture([output]))
  })

  test('titles are told as programs set them', async () => {
    const titles: string[] = []
    const ring = new OutputRing()
    ring.append(Buffer.from('\x1b]0;one\x07\x1b]2;two\x1b\\'))
    await screenOver(ring, titles).snapshot()
    expect(titles).toEqual(['one', 'two'])
  })
})

function textOf(terminal: InstanceType<typeof headless.Terminal>): string[] {
  const { active } = terminal.buffer
  return Array.from(
    { length: terminal.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
  )
}

describe('a flood of plain lines', () => {
  const lines = (count: number, text = 'plain text') =>
    Array.from({ length: count }, (_, line) => `${text} ${line}\r\n`).join('')

  test.each([
    ['from a shell', ''],
    ['in a colour', '\x1b[32m'],
    ['in the other character set', '\x0e'],
    ['within margins', '\x1b[2;5r'],
    ['on the other screen', '\x1b[?1049h'],
    ['in the middle of a sequence', '\x1b]0;title'],
    ['after a line that is not full', 'prompt $ '],
  ])('shows the same as when each line is looked at: %s', async (_, before) => {
    const ring = new OutputRing()
    const screen = screenOver(ring)
    ring.append(Buffer.from(before))
    await screen.snapshot()
    const flood = lines(60_000)
    ring.append(Buffer.from(flood))
    const { bytes, offset } = await screen.snapshot()
    const rest = Buffer.from(before + flood).subarray(offset)
    expect(await picture([bytes, rest, 'x'])).toEqual(await picture([before, flood, 'x']))
  })
})
