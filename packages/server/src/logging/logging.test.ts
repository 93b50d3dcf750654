import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { Logging, type LoggingOptions, type LogSettings } from './logging.ts'

let directory: string
let consoleFd: number
let clock: FakeClock
const opened: Logging[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-log-'))
  consoleFd = openSync(at('console'), 'a')
  clock = new FakeClock()
})
afterEach(async () => {
  for (const logging of opened.splice(0)) await logging.close()
  closeSync(consoleFd)
  rmSync(directory, { recursive: true })
})

const at = (name: string): string => join(directory, name)
const read = (name: string): string => readFileSync(at(name), 'utf8')
const settings: LogSettings = { level: 'INFO', format: 'text', host: 'host-1', instance: 'abc' }
const file = (name: string): LogSettings['file'] => ({ path: at(name), maxBytes: 0, backupCount: 3 })

function open(options: Partial<LoggingOptions> = {}): Logging {
  const logging = new Logging({ ...settings, clock, secrets: () => ['very-secret'], consoleFd, ...options })
  opened.push(logging)
  return logging
}

test('one record goes to the console as text and to the file as JSON', async () => {
  const logging = open({ file: file('svcd.log') })
  logging.root.child('svcd.http', { request: 7 }).child('svcd.ws').info('opened', { user: 'maria' })
  await logging.close()
  expect(read('console')).toBe('2026-01-01T00:00:00.000Z INFO     svcd.ws opened request=7 user=maria\n')
  expect(JSON.parse(read('svcd.log'))).toEqual({
    timestamp: '2026-01-01T00:00:00.000Z',
    level: 'INFO',
    logger: 'svcd.ws',
    message: 'opened',
    host: 'host-1',
    instance: 'abc',
    request: 7,
    user: 'maria',
  })
})

test('a given secret is masked in both', async () => {
  const logging = open({ file: file('svcd.log') })
  logging.root.error('refused very-secret', { error: new Error('bad very-secret'), value: { deep: 'very-secret' } })
  await logging.close()
  expect(read('console') + read('svcd.log')).not.toContain('very-secret')
  expect(read('console')).toContain('refused ***')
})

test('below the level nothing is even looked at', async () => {
  const logging = open({ level: 'WARNING' })
  const fields = {
    get touched(): string {
      throw new Error('was read')
    },
  }
  logging.root.debug('no', fields)
  logging.root.info('no', fields)
  logging.root.warning('yes')
  logging.root.critical('yes')
  await logging.close()
  expect(read('console').match(/yes/g)).toHaveLength(2)
  expect(read('console')).not.toContain('no')
})

test('fields that cannot be read at all still give a line', async () => {
  const logging = open()
  logging.root.info(
    'kept',
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('trap')
        },
      },
    ),
  )
  await logging.close()
  expect(read('console')).toContain('kept fields="[unreadable]"')
})

test('a flush has written everything when it returns', () => {
  const logging = open({ file: file('svcd.log') })
  logging.root.critical('going down')
  logging.flushSync()
  expect(read('console')).toContain('going down')
  expect(read('svcd.log')).toContain('going down')
})

test('an unwritable log file is an error at the start', () => {
  expect(() => open({ file: file('missing/svcd.log') })).toThrow(/^SVCD_LOG_FILE: cannot write .*ENOENT/)
})

describe('a reload', () => {
  test('applies level, format, origin and file', async () => {
    const logging = open({ file: file('first.log') })
    logging.root.info('one')
    logging.reconfigure({ level: 'DEBUG', format: 'json', host: 'host-2', instance: 'abc', file: file('second.log') })
    logging.root.debug('two')
    await logging.close()
    const [first, second] = read('console').trimEnd().split('\n')
    expect(first).toContain('svcd one')
    expect(JSON.parse(second ?? '')).toMatchObject({ message: 'two', host: 'host-2' })
    expect(read('first.log') + read('second.log')).toMatch(/"one".*\n.*"two"/)
    expect(read('second.log')).toContain('"two"')
  })

  test('can turn the file off and on again', async () => {
    const logging = open({ file: file('svcd.log') })
    logging.root.info('one')
    logging.reconfigure(settings)
    logging.root.info('two')
    logging.reconfigure({ ...settings, file: file('svcd.log') })
    logging.root.info('three')
    await logging.close()
    expect(read('svcd.log').match(/"message":"\w+"/g)).toEqual(['"message":"one"', '"message":"three"'])
  })

  test('with an unwritable file warns on the console and goes on', async () => {
    const logging = open({ file: file('svcd.log') })
    logging.reconfigure({ ...settings, level: 'ERROR', file: file('missing/svcd.log') })
    logging.root.error('still here')
    await logging.close()
    expect(read('console')).toMatch(/WARNING {2}svcd\.logging The log file is left out.*SVCD_LOG_FILE.*still here/s)
  })
})

describe('a sink that breaks while running', () => {
  test('a file whose directory vanished is left out with one warning, and comes back with a reload', async () => {
    mkdirSync(at('logs'))
    const logging = open({ file: file('logs/svcd.log') })
    rmSync(at('logs'), { recursive: true })
    clock.advance(1000)
    logging.root.info('one')
    await vi.waitFor(() => expect(read('console')).toContain('left out'))
    logging.root.info('two')
    mkdirSync(at('logs'))
    logging.reconfigure({ ...settings, file: file('logs/svcd.log') })
    logging.root.info('three')
    await logging.close()
    expect(read('console').match(/SVCD_LOG_FILE failed and is left out until the next reload/g)).toHaveLength(1)
    expect(read('logs/svcd.log').match(/"message":"\w+"/g)).toEqual(['"message":"three"'])
  })

  test('a full device is left out with one warning on the console', async () => {
    const logging = open({ file: { path: '/dev/full', maxBytes: 0, backupCount: 3 } })
    for (let line = 0; line < 3; line++) logging.root.info(`line ${line}`)
    await logging.close() // the failure may come as late as this
    expect(read('console').match(/SVCD_LOG_FILE failed and is left out until the next reload/g)).toHaveLength(1)
    expect(read('console')).toContain('ENOSPC')
  })
})
