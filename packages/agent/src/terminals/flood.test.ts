import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coloursIn, Flood } from './flood.ts'
import { OutputRing } from './output-ring.ts'
import { Screen } from './screen.ts'

const COLS = 20
const SCROLLBACK = 12
const passing = { scrollbackLines: SCROLLBACK, floodBytes: 1, placeBytes: 1 }
const reading = { ...passing, floodBytes: Infinity }

function openScreen(limits: typeof passing, cols: number) {
  const ring = new OutputRing()
  const size = { cols, rows: 4 }
  return { ring, screen: new Screen({ ring, size, titled: () => {}, progressed: () => {}, limits }) }
}

const lines = (count: number, text = 'plain text') =>
  Array.from({ length: count }, (_, line) => `${text} ${line}\r\n`).join('')

/** How much of the output is passed over when so many lines stay. */
function passedOver(output: string | Buffer, { cols = 80, stay = 100 } = {}): number {
  const flood = new Flood({ from: 0, cols, placeBytes: 1 })
  flood.read(Buffer.from(output))
  return flood.cut(0, stay)?.at ?? 0
}

describe('a flood', () => {
  test('is passed over up to the lines that stay', () => {
    const output = lines(1000)
    const rest = output.slice(passedOver(output))
    expect(rest.split('\r\n')).toHaveLength(101)
    expect(rest).toMatch(/^plain text 900\r\n/)
  })

  test.each([
    ['colours', lines(1000, '\x1b[1;31mred\x1b[0m')],
    ['colours of all kinds', lines(1000, '\x1b[38;2;1;2;3m\x1b[48:5:7m\x1b[4:3mred\x1b[m')],
    ['what is erased to the end of the line', lines(1000, '\x1b[01;31m\x1b[Kfound\x1b[m\x1b[K')],
    ['tabs, returns and backspaces', lines(1000, '10%\r20%\b\b\t30%')],
    ['characters of any language', lines(1000, 'übergroß 漢字 🙂 e\u0301')],
    ['no control characters but such as look like them', lines(1000, '\u00a0\u00bf')],
  ])('may have %s', (_, output) => {
    const size = passedOver(output)
    expect(Buffer.from(output).subarray(size).toString()).toMatch(/^[^\n]* 900\r\n/)
  })

  test.each([
    ['too few lines', lines(50)],
    ['an escape at the beginning', `\x1b[5A${lines(1000)}`],
    ['a control character from the second table', `\u009b31m${lines(1000)}`],
    ['another character set', `\x0e${lines(1000)}`],
    ['a link', `\x1b]8;;http://a\x1b\\${lines(1000)}`],
    ['keys that are told otherwise', `\x1b[>4;2m${lines(1000)}`],
    ['lines that do not return to the margin', lines(1000).replaceAll('\r', '')],
    ['lines that return too early', lines(1000).replaceAll('\r', '\rü')],
  ])('is not: %s', (_, output) => {
    expect(passedOver(output)).toBe(0)
  })

  test('ends before what leaves a trace, and can be passed over up to there', () => {
    const output = lines(500)
    const rest = output.slice(passedOver(`${output}\x1b[2J${lines(500)}`))
    expect(rest).toMatch(/^plain text 400\r\n/)
  })

  test('of long lines is counted as it is wrapped', () => {
    const output = `${'x'.repeat(79)}\r\n`.repeat(1000)
    expect(output.length - passedOver(output, { cols: 80 })).toBe(100 * 81)
    expect(output.length - passedOver(output, { cols: 79 })).toBe(100 * 81)
    expect(output.length - passedOver(output, { cols: 78 })).toBe(50 * 81)
    expect(output.length - passedOver(output, { cols: Infinity })).toBe(100 * 81)
  })

  test('is passed over in steps when its colours are never reset', () => {
    const output = Buffer.from(lines(60_000, '\x1b[31m'))
    const flood = new Flood({ from: 0, cols: 80, placeBytes: 1024 })
    flood.read(output)
    const cuts: number[] = []
    for (;;) {
      const cut = flood.cut(cuts.at(-1) ?? 0, 100)
      if (!cut) break
      cuts.push(cut.at)
    }
    expect(cuts.length).toBeGreaterThan(2)
    expect(cuts.every((at, index) => at - (cuts[index - 1] ?? 0) <= 256 * 1024)).toBe(true)
    expect(output.length - (cuts.at(-1) ?? 0)).toBeLessThan(100 * 20 + 2048)
  })

  test('leaves its colours, from the last reset on', () => {
    const output = `\x1b[31mred\r\n\x1b[0;1mbold\x1b[K\r\n\x1b[4m${lines(1000)}`
    const flood = new Flood({ from: 0, cols: 80, placeBytes: 1 })
    flood.read(Buffer.from(output))
    const { at = 0, coloursFrom = 0 } = flood.cut(0, 100) ?? {}
    expect(coloursIn(Buffer.from(output.slice(coloursFrom, at))).toString()).toBe('\x1b[0;1m\x1b[4m')
  })
})

describe('a screen that passes over floods', () => {
  const number = fc.oneof(fc.constantFrom(0, 1, 4, 7, 22, 31, 39, 44, 49, 53, 97, 105), fc.nat(120))
  const colour = fc.oneof(
    fc.array(number, { maxLength: 4 }).map((numbers) => `\x1b[${numbers.join(';')}m`),
    fc.constantFrom('\x1b[m', '\x1b[0m', '\x1b[00;31m', '\x1b[;7m', '\x1b[38;5;0m', '\x1b[48;2;0;9;0m', '\x1b[4:3m'),
    fc.constantFrom('\x1b[58;5;3m', '\x1b[58:2::1:2:3m', '\x1b[0:4m', '\x1b[38;5m', '\x1b[0;38;2;1m'),
  )
  const word = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ maxLength: 8, unit: 'binary' }),
    fc.constantFrom('word', ' ', 'x'.repeat(19), 'x'.repeat(20), 'x'.repeat(21), 'y'.repeat(65), '漢', '字'.repeat(11)),
    fc.constantFrom('e\u0301', '\u0301', '🙂', '👩‍👩‍👧', '\u00a0', '\u200b', '\ufeff'),
  )
  const withinLine = fc.constantFrom(
    '\t',
    '\b',
    '\b\b\b',
    '\r',
    '\x07',
    '\x00',
    '\x7f',
    '\x1b[K',
    '\x1b[1K',
    '\x1b[0;K',
  )
  const lineEnd = fc.oneof({ weight: 20, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\v', '\f', '\n\r'))
  const trace = fc.constantFrom(
    ...['\x1b[A', '\x1b[2;3H', '\x1b[2J', '\x1b[L', '\x1b[M', '\x1b[3b', '\x1b[5C', '\x1bM', '\x1bD', '\x1bE', '\x1bH'],
    ...['\x0e', '\x0f', '\x1b(0', '\x1b(B', '\x1b)0', '\x1b7', '\x1b8', '\x1b[2;3r', '\x1b[r', '\x1b[!p', '\x1bc'],
    ...[
      '\x1b[?1049h',
      '\x1b[?1049l',
      '\x1b[?7l',
      '\x1b[?7h',
      '\x1b[?45h',
      '\x1b[?45l',
      '\x1b[4h',
      '\x1b[4l',
      '\x1b[20h',
    ],
    ...['\x1b[20l', '\x1b[?6h', '\x1b[?6l', '\x1b]8;;http://a\x1b\\', '\x1b]8;;\x1b\\', '\x1b]0;title\x07', '\x1b[1"q'],
    ...['\u009b31m', '\u0084', '\u0085', '\x1b[>4;2m', '\x1b[3', '\x1b', '\x1b]0;', '\x1bP', '\x18'],
  )
  const line = fc
    .tuple(fc.array(fc.oneof(word, word, colour, withinLine), { maxLength: 5 }), lineEnd)
    .map(([parts, end]) => parts.join('') + end)
  const flood = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 25 }))
    .map(([some, times]) => some.join('').repeat(times))
  const raw = fc.uint8Array({ maxLength: 6 })
  const text = fc.oneof(
    { weight: 6, arbitrary: flood },
    { weight: 2, arbitrary: fc.oneof(word, colour, withinLine, line) },
    { weight: 2, arbitrary: trace },
  )
  const piece = fc.oneof(
    { weight: 12, arbitrary: text.map((part) => Buffer.from(part.toWellFormed())) },
    raw.map((bytes) => Buffer.from(bytes)),
  )
  const step = fc.record({
    output: fc.array(piece, { maxLength: 6 }).map((pieces) => Buffer.concat(pieces)),
    /** The first bytes come alone, so that the passing begins anywhere. */
    first: fc.nat(40),
    /** Never the columns: where the emulator lets lines flow anew, it shows what its memory held by chance. */
    rows: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 4 }),
  })
  const cols = fc.oneof(fc.constant(COLS), fc.integer({ min: 2, max: 30 }))
  /** Shows what is not seen: the last character, the saved cursor, the character set, the colour. */
  const probe = Buffer.from('\x1b[2bp\tq\x1b[K\r\nr\x1b8s\x1b[2;2Ht')

  interface Step {
    readonly output: Buffer
    readonly first: number
    readonly rows: number | null
  }

  async function expectSame(cols: number, steps: readonly Step[]): Promise<void> {
    const both = [openScreen(passing, cols), openScreen(reading, cols)]
    const compare = async () => {
      const [left, right] = await Promise.all(both.map(({ screen }) => screen.snapshot()))
      expect({ ...left, bytes: left?.bytes.toString() }).toEqual({ ...right, bytes: right?.bytes.toString() })
    }
    for (const { output, first, rows } of steps) {
      for (const { ring } of both) ring.append(output.subarray(0, first))
      await compare()
      for (const { ring } of both) ring.append(output.subarray(first))
      if (rows) for (const { screen } of both) screen.resize({ cols, rows })
      await compare()
    }
    for (const { ring } of both) ring.append(probe)
    await compare()
  }

  test.each([
    ['in an escape', 'text\x1b', `[31m\r\n${lines(40)}`],
    ['in a colour', 'text\x1b[3', `1m\r\n${lines(40)}`],
    ['in a title', 'text\x1b]0;a', `bc\x07\r\n${lines(40)}`],
    ['in a character', Buffer.from([0x61, 0xe6, 0xbc]), Buffer.concat([Buffer.from([0xa2]), Buffer.from(lines(40))])],
    [
      'in a character that never ends',
      Buffer.from([0x61, 0xe6]),
      Buffer.concat([
        Buffer.from('x'),
        ...Array.from({ length: 40 }, () => Buffer.from([0x0d, 0x0a, 0xbc, 0xa2, 0x61])),
      ]),
    ],
    ['in a colour that was set in it', '', `\x1b[31;4mred\r\n${lines(40)}`],
    ['in lines that go back and forth', '', `${'x'.repeat(15)}${'\b'.repeat(10)}${'x'.repeat(10)}\r\n`.repeat(15)],
    ['in a line that is not full', 'prompt $ ', lines(40)],
    ['in a colour that goes on', '\x1b[31;4m', lines(40)],
    ['in a link', '\x1b]8;;http://a\x1b\\here', lines(40)],
    ['within margins', '\x1b[2;3r\x1b[3H', lines(40)],
    ['on the other screen', '\x1b[?1049h', lines(40)],
    ['in the other character set', '\x1b(0', lines(40)],
    ['in lines that do not wrap', '\x1b[?7l', `${'x'.repeat(65)}\r\n`.repeat(9)],
    ['in lines that wrap', '', `${'x'.repeat(65)}\r\n`.repeat(9)],
    ['in lines that wrap at their end', '', `${'x'.repeat(COLS)}\r\n`.repeat(19)],
    ['in lines of which backspaces lead back', '\x1b[?45h', `${'x'.repeat(25)}${'\b'.repeat(30)}\r\n`.repeat(15)],
    ['in lines that return by themselves', '\x1b[20h', `${'x'.repeat(15)}\n`.repeat(40) + lines(20)],
    ['in lines that never return', '', `${lines(2)}${'x\n'.repeat(40)}`],
    ['in colours without a reset', '\x1b[1m', `\x1b[31mred\x1b[39m\r\n`.repeat(40)],
    ['in colours of which another is set first', '', `\x1b[0;31m\x1b[1mred\r\n\x1b[38;5;0mx\r\n`.repeat(20)],
    ['in erased lines', '\x1b[44m', `word\x1b[K\r\n\x1b[0;Kx\x1b[1K\r\n`.repeat(20)],
  ])('shows the same as one that looks at everything: %s', async (_, first, rest) => {
    const output = Buffer.concat([Buffer.from(first), Buffer.from(rest)])
    await expectSame(COLS, [{ output, first: Buffer.from(first).length, rows: null }])
  })

  test('counts lines as they are in the size that they are shown in', async () => {
    const both = [openScreen(passing, 10), openScreen(reading, 10)]
    for (const { ring, screen } of both) {
      ring.append(Buffer.from('x\r\n'))
      await screen.snapshot()
      screen.resize({ cols: 30, rows: 4 })
      ring.append(Buffer.from(`${'x'.repeat(25)}\r\n`.repeat(10)))
    }
    const [left, right] = await Promise.all(both.map(({ screen }) => screen.snapshot()))
    expect(left).toEqual(right)
  })

  test('shows the same as one that looks at everything, and goes on the same', async () => {
    await fc.assert(fc.asyncProperty(cols, fc.array(step, { minLength: 1, maxLength: 5 }), expectSame), {
      numRuns: 400,
    })
  }, 60_000)
})
