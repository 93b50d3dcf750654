import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { LineWriter } from './line-writer.ts'
import { LogFile, LogFileError, type LogFileSettings } from './log-file.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let directory: string
let path: string
let clock: FakeClock
let writer: LineWriter | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-log-'))
  path = join(directory, 'svcd.log')
  clock = new FakeClock(Date.UTC(2026, 0, 1)) // a Thursday
})
afterEach(async () => {
  await writer?.close()
  writer = undefined
  rmSync(directory, { recursive: true })
})

function open(settings: Partial<LogFileSettings> = {}): LineWriter {
  writer = new LineWriter({
    destination: new LogFile({ path, maxBytes: 0, backupCount: 3, ...settings }, clock),
    clock,
    droppedNotice: () => '',
    onFailure: (error) => {
      throw error
    },
  })
  return writer
}

async function write(...lines: string[]): Promise<void> {
  for (const line of lines) writer?.push(`${line}\n`)
  await writer?.idle()
}

async function restart(settings: Partial<LogFileSettings>): Promise<void> {
  await writer?.close()
  open(settings)
}

/** What each file holds, newest first: `svcd.log`, `.1`, `.2` … */
function files(): Record<string, string[]> {
  const names = readdirSync(directory).sort()
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1)]),
  )
}

describe('opening', () => {
  test('a new file is readable by its owner only, before and after a rotation', async () => {
    open({ maxBytes: 4 })
    await write('one', 'two')
    for (const name of ['svcd.log', 'svcd.log.1']) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
  })

  test('an existing file is continued', async () => {
    writeFileSync(path, 'old\n')
    open()
    await write('new')
    expect(files()).toEqual({ 'svcd.log': ['old', 'new'] })
  })

  test('a record torn by a power cut is not glued to the next one', async () => {
    writeFileSync(path, 'old\n{"tor')
    open()
    await write('new')
    expect(files()).toEqual({ 'svcd.log': ['old', '{"tor', 'new'] })
  })

  test('a path that cannot be written is an error that names the setting', () => {
    expect(() => open({ path: join(directory, 'missing', 'svcd.log') })).toThrow(LogFileError)
    expect(() => open({ path: directory })).toThrow(/^SVCD_LOG_FILE: cannot write .* \(EISDIR\)$/)
  })
})

describe('changes from outside', () => {
  test.each([
    ['renamed', () => renameSync(path, `${path}.moved`), { 'svcd.log': ['two'], 'svcd.log.moved': ['one'] }],
    ['deleted', () => rmSync(path), { 'svcd.log': ['two'] }],
    ['truncated', () => truncateSync(path), { 'svcd.log': ['two'] }],
  ])('a file that was %s is followed within a second', async (_what, act, expected) => {
    open()
    await write('one')
    act()
    clock.advance(1000)
    await write('two')
    expect(files()).toEqual(expected)
  })

  test('after a truncation in place the size counts from there', async () => {
    open({ maxBytes: 8 })
    await write('one', 'two')
    truncateSync(path)
    clock.advance(1000)
    await write('six')
    expect(files()).toEqual({ 'svcd.log': ['six'] })
  })
})

describe('rotation by size', () => {
  test('a record that does not fit starts a new file, and each file holds whole records', async () => {
    open({ maxBytes: 10, backupCount: 9 })
    await write('aaa', 'bbb', 'ccc', 'ddd', 'eee')
    expect(files()).toEqual({ 'svcd.log': ['eee'], 'svcd.log.1': ['ccc', 'ddd'], 'svcd.log.2': ['aaa', 'bbb'] })
  })

  test('a record larger than the limit gets a file of its own', async () => {
    open({ maxBytes: 10 })
    await write('aaa', 'b'.repeat(30), 'ccc')
    expect(files()).toEqual({ 'svcd.log': ['ccc'], 'svcd.log.1': ['b'.repeat(30)], 'svcd.log.2': ['aaa'] })
  })

  test('only the newest backups are kept', async () => {
    open({ maxBytes: 4, backupCount: 2 })
    await write('one', 'two', 'six', 'ten')
    expect(files()).toEqual({ 'svcd.log': ['ten'], 'svcd.log.1': ['six'], 'svcd.log.2': ['two'] })
  })

  test('backups beyond a lowered number go with the next rotation', async () => {
    open({ maxBytes: 4, backupCount: 3 })
    await write('one', 'two', 'six', 'ten')
    await restart({ maxBytes: 4, backupCount: 1 })
    await write('end')
    expect(files()).toEqual({ 'svcd.log': ['end'], 'svcd.log.1': ['ten'] })
  })

  test('without backups the old records are discarded', async () => {
    open({ maxBytes: 8, backupCount: 0 })
    await write('one', 'two', 'six')
    expect(files()).toEqual({ 'svcd.log': ['six'] })
  })

  test('thousands of records in one burst are all there, in order and whole', async () => {
    open({ maxBytes: 10_000, backupCount: 1000 })
    const lines = Array.from({ length: 5000 }, (_, index) => `record ${index} ${'é'.repeat(index % 40)}`)
    await write(...lines)
    const all = files()
    const oldestFirst = Object.keys(all).sort((a, b) => Number(b.slice(9) || 0) - Number(a.slice(9) || 0))
    expect(oldestFirst.flatMap((name) => all[name] ?? [])).toEqual(lines)
    expect(oldestFirst.length).toBeGreaterThan(20)
    for (const name of oldestFirst) expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(10_000)
  })
})

describe('rotation by period, in UTC', () => {
  test.each([
    ['hourly', HOUR_MS],
    ['daily', DAY_MS],
    ['weekly', 4 * DAY_MS], // from Thursday 1 January to Monday 5 January
    ['monthly', 31 * DAY_MS],
  ] as const)('%s: the first record of a new period starts a new file', async (rotate, periodMs) => {
    open({ rotate })
    await write('first')
    clock.advance(periodMs - 1)
    await write('last')
    clock.advance(1)
    await write('next')
    expect(files()).toEqual({ 'svcd.log': ['next'], 'svcd.log.1': ['first', 'last'] })
  })

  test('a restart continues the period by the time of the last write', async () => {
    open({ rotate: 'daily' })
    await write('morning')
    utimesSync(path, clock.nowMs() / 1000, clock.nowMs() / 1000)
    clock.advance(DAY_MS - 1)
    await restart({ rotate: 'daily' })
    await write('evening')
    utimesSync(path, clock.nowMs() / 1000, clock.nowMs() / 1000)
    clock.advance(1)
    await restart({ rotate: 'daily' })
    await write('next day')
    expect(files()).toEqual({ 'svcd.log': ['next day'], 'svcd.log.1': ['morning', 'evening'] })
  })

  test('a clock that is set back rotates nothing', async () => {
    open({ rotate: 'daily' })
    await write('one')
    clock.advance(-2 * DAY_MS)
    await write('two')
    expect(files()).toEqual({ 'svcd.log': ['one', 'two'] })
  })

  test('size and period work together', async () => {
    open({ rotate: 'hourly', maxBytes: 8 })
    await write('one', 'two', 'six')
    clock.advance(HOUR_MS)
    await write('ten')
    expect(files()).toEqual({ 'svcd.log': ['ten'], 'svcd.log.1': ['six'], 'svcd.log.2': ['one', 'two'] })
  })
})
