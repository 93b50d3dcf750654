import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonFormat } from './json-format.ts'
import type { LogRecord } from './log-record.ts'
import { secretScrubber } from './secret-scrubber.ts'
import { textFormat } from './text-format.ts'

const scrub = secretScrubber(() => ['given-secret', '123456'])
const json = jsonFormat({ host: 'host-1', instance: 'abc' }, scrub)
const text = textFormat({ coloured: false }, scrub)

const record = (message: string, fields: LogRecord['fields'] = {}): LogRecord => ({
  timestamp: '2026-01-01T00:00:00.000Z',
  level: 'INFO',
  logger: 'svcd.http',
  message,
  fields,
})
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

describe('the two formats', () => {
  test('text is time, level, logger, message and fields', () => {
    const fields = { path: '/a b', status: 200, ok: true, list: [1, 'x'], none: undefined, nil: null }
    expect(text(record('request', fields))).toBe(
      '2026-01-01T00:00:00.000Z INFO     svcd.http request path="/a b" status=200 ok=true list=[1,"x"] nil=null\n',
    )
  })

  test('JSON has the fixed keys first and then the fields', () => {
    expect(json(record('request', { path: '/a', status: 200, none: undefined }))).toBe(
      '{"timestamp":"2026-01-01T00:00:00.000Z","level":"INFO","logger":"svcd.http","message":"request","host":"host-1","instance":"abc","path":"/a","status":200}\n',
    )
  })

  test('a field cannot pose as one of the fixed keys', () => {
    const parsed = JSON.parse(json(record('real', { message: 'forged', level: 'ERROR', ['__proto__']: 1 })))
    expect(parsed).toMatchObject({ message: 'real', level: 'INFO', field_message: 'forged', field_level: 'ERROR' })
  })

  test('colour surrounds the level and nothing else', () => {
    expect(textFormat({ coloured: true }, scrub)(record('m'))).toBe(
      '2026-01-01T00:00:00.000Z \u001b[36mINFO    \u001b[0m svcd.http m\n',
    )
  })

  test('an error is printed with its stack and causes, indented in text and as exc_info in JSON', () => {
    const error = new Error('outer\n2026-01-01 forged line', {
      cause: new AggregateError([new Error('part')], 'inner'),
    })
    const lines = text(record('failed', { error, status: 1 }))
      .trimEnd()
      .split('\n')
    expect(lines[0]).toMatch(/svcd\.http failed status=1$/)
    expect(lines.slice(1).every((line) => line.startsWith('    '))).toBe(true)
    expect(lines).toContain('    2026-01-01 forged line')
    expect(lines).toContain('    Caused by: AggregateError: inner')
    expect(lines).toContain('    One of: Error: part')
    const { exc_info } = JSON.parse(json(record('failed', { error })))
    expect(exc_info).toMatch(
      /^Error: outer\n2026-01-01 forged line\n {4}at .*Caused by: AggregateError: inner\n {4}at /s,
    )
  })

  test('JSON has no exc_info without an error', () => {
    expect(json(record('fine'))).not.toContain('exc_info')
  })
})

describe('nothing logged can forge a line or drive a terminal', () => {
  test.each([
    ['a newline', 'a\nb', 'a\\nb'],
    ['a carriage return', 'a\rb', 'a\\rb'],
    ['a tab', 'a\tb', 'a\\tb'],
    ['an escape sequence', '\u001b[2Jx', '\\u001b[2Jx'],
    ['NUL', 'a\0b', 'a\\u0000b'],
    ['DEL', 'a\u007fb', 'a\\u007fb'],
    ['a C1 control', 'a\u009bb', 'a\\u009bb'],
    ['a line separator', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['a right-to-left override', 'a\u202eb\u2066', 'a\\u202eb\\u2066'],
  ])('%s is escaped in messages, values, keys, names and errors', (_what, raw, escaped) => {
    const error = new Error(raw.replaceAll('\n', ''))
    for (const line of [
      text(record(raw, { value: raw, [raw]: 1 })),
      json(record(raw, { value: raw, [raw]: 1, error })),
    ]) {
      expect(line.slice(0, -1)).not.toMatch(unsafe)
      expect(line.split(escaped).length).toBeGreaterThan(3)
    }
    const trace = text(record('m', { error }))
    expect(trace.replaceAll('\n', '')).not.toMatch(unsafe)
    expect(JSON.parse(json(record(raw, { value: raw })))).toMatchObject({ message: raw, value: raw })
  })
})

describe('formatting never throws', () => {
  const cyclic: Record<string, unknown> = { name: 'x' }
  cyclic.self = cyclic
  const fail = (): never => {
    throw new Error('trap')
  }
  const trap = new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail })
  const badError = new Error('bad')
  Object.defineProperty(badError, 'stack', { get: fail })
  Object.defineProperty(badError, 'cause', { value: badError })

  // Made by functions: the test runner prints table values, and some of these bite.
  test.each<[string, () => unknown, unknown]>([
    ['a cycle', () => cyclic, { name: 'x', self: '[circular]' }],
    ['a BigInt', () => 10n ** 20n, '100000000000000000000'],
    [
      'a throwing getter',
      () => Object.defineProperty({ ok: 1 }, 'bad', { get: fail, enumerable: true }),
      { ok: 1, bad: '[unreadable]' },
    ],
    ['a throwing toJSON', () => ({ toJSON: fail }), '[unreadable]'],
    ['a proxy', () => trap, '[unreadable]'],
    ['a date', () => new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid date', () => new Date(Number.NaN), 'Invalid Date'],
    ['no number', () => Number.NaN, 'NaN'],
    ['bytes', () => Buffer.from('secret'), '[6 bytes]'],
    ['a map and a set', () => new Map([['a', new Set([1])]]), { a: [1] }],
    ['an error as a value', () => new Error('x'), 'Error: x'],
    ['a symbol', () => Symbol('x'), 'Symbol(x)'],
  ])('%s', (_what, make, expected) => {
    expect(JSON.parse(json(record('m', { value: make() }))).value).toEqual(expected)
    expect(text(record('m', { value: make() }))).toContain('value=')
  })

  test.each<[string, () => unknown]>([
    ['a proxy that throws', () => trap],
    ['its own cause, with a throwing stack', () => badError],
    ['text', () => 'just text'],
    ['null', () => null],
    ['an object that has no text', () => Object.create(null)],
    ['a symbol', () => Symbol('x')],
  ])('an error that is %s', (_what, make) => {
    expect(JSON.parse(json(record('m', { error: make() }))).exc_info).toBeTypeOf('string')
    expect(text(record('m', { error: make() }))).toContain('\n    ')
  })

  test('any text, as message, key, value or error, gives one line that reads back', () => {
    const nasty = fc.constantFrom(...'\n\r\u001b\u0085\u2028\u202e"\\=&?')
    const anyText = fc.string({ unit: fc.oneof(nasty, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })) })
    fc.assert(
      fc.property(anyText, anyText, fc.oneof(anyText, fc.anything()), (message, key, value) => {
        fc.pre(key !== 'error')
        const written = record(message, { [key]: value, error: message })
        const [first, ...extra] = text(written).slice(0, -1).split('\n')
        expect(first).toMatch(/^2026-01-01T00:00:00.000Z INFO {5}svcd.http /)
        expect(extra.every((line) => line.startsWith('    '))).toBe(true)
        expect([first, ...extra].join('')).not.toMatch(unsafe)
        const line = json(written)
        expect(line.slice(0, -1)).not.toMatch(unsafe)
        const parsed = JSON.parse(line)
        expect(parsed).toMatchObject({ message, exc_info: message })
        if (typeof value === 'string') expect(Object.values(parsed)).toContain(value)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('long and secret values', () => {
  test('a long value is cut, with a note of its length', () => {
    const parsed = JSON.parse(json(record('m'.repeat(20_000), { value: 'v'.repeat(20_000) })))
    expect(parsed.message).toBe(`${'m'.repeat(8192)}… [cut, 20000 characters]`)
    expect(parsed.value).toBe(`${'v'.repeat(8192)}… [cut, 20000 characters]`)
  })

  test('a field that holds the world costs a bounded line', () => {
    const world = Array.from({ length: 5000 }, () => 'x'.repeat(5000))
    expect(json(record('m', { world })).length).toBeLessThan(64 * 1024)
  })

  test.each([
    [64, 64],
    [65, 64],
    [100_000, 64],
  ])('of %d fields both formats write %d, and say when some are missing', (given, written) => {
    const names = Array.from({ length: given }, (_, index) => `field${index}`)
    const crowded = record('m', { error: 'kept', ...Object.fromEntries(names.map((name) => [name, 1])) })
    const parsed = JSON.parse(json(crowded))
    const line = text(crowded)
    expect(Object.keys(parsed).filter((key) => key.startsWith('field'))).toHaveLength(written)
    expect(line.match(/field\d+=1/g)).toHaveLength(written)
    expect([parsed.exc_info, line]).toEqual(['kept', expect.stringContaining('\n    kept')])
    expect(parsed['…']).toBe(given > written ? '[cut, more than 64 fields]' : undefined)
    expect(line.includes('…="[cut, more than 64 fields]"')).toBe(given > written)
  })

  test('a secret lying across the cut is masked whole', () => {
    const message = `${'m'.repeat(8186)}given-secret${'m'.repeat(9000)}`
    expect(json(record(message))).not.toContain('given-')
  })

  test('a secret of several lines is masked in an indented error', () => {
    const lines = textFormat(
      { coloured: false },
      secretScrubber(() => ['first\nsecond']),
    )
    expect(lines(record('m', { error: 'key first\nsecond' }))).toMatch(/ {4}key \*\*\*\n$/)
  })

  test('a secret of digits inside a number leaves a record that still parses', () => {
    const parsed = JSON.parse(json(record('m', { bytes: 91_234_567 })))
    expect(parsed).toMatchObject({ level: 'INFO', logger: 'svcd.http' })
    expect(JSON.stringify(parsed)).not.toContain('123456')
  })
})
