import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, createReadStream, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

// Whole processes, because what is tested here is how one ends, and what its stderr is.

let directory: string
let child: ChildProcess | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-log-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(directory, { recursive: true })
})

/** Runs `script` in a process of its own, with `logging` writing to its stderr and to `<directory>/svcd.log`. */
function run(script: string, stdio: StdioOptions): ChildProcess {
  const program = `
    import { Logging } from ${JSON.stringify(new URL('./logging.ts', import.meta.url).href)}
    import { systemClock as clock } from ${JSON.stringify(new URL('../kernel/clock.ts', import.meta.url).href)}
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const told = () => new Promise((resolve) => process.stdin.once('data', resolve))
    const file = { path: ${JSON.stringify(join(directory, 'svcd.log'))}, maxBytes: 0, backupCount: 0 }
    const options = { level: 'INFO', format: 'json', host: 'h', instance: 'i', clock, secrets: () => [] }
    ${script}`
  child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program], { stdio })
  return child
}

interface Stderr {
  readonly given: number | 'pipe'
  /** Lets someone read what `child` writes, from now on. */
  read(child: ChildProcess): Promise<string>
  close(): void
}

/** The two kinds of stderr a supervisor gives: a pipe (shell, container engine) or a socket (the journal). */
const kinds: [string, () => Stderr][] = [
  ['a pipe', openPipe],
  ['a socket', () => ({ given: 'pipe', read: (child) => textOf(child.stderr), close: () => {} })],
]

function openPipe(): Stderr {
  const path = join(directory, 'pipe')
  execFileSync('mkfifo', [path])
  const held = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe without any reader cannot be opened
  const given = openSync(path, constants.O_WRONLY)
  return {
    given,
    read: () => {
      closeSync(given) // the child's is then the last one, and its end the end of the text
      return textOf(createReadStream(path))
    },
    close: () => closeSync(held),
  }
}

async function textOf(stream: Readable | null): Promise<string> {
  return stream ? text(stream) : ''
}

/** 25 MB in 200 turns: three times what may wait in memory. */
const crowd = `
  const logging = new Logging(options)
  for (let turns = 0; turns < 200; turns++) {
    for (let line = 0; line < 500; line++) logging.root.info('x'.repeat(150))
    await turn()
  }
  process.stdout.write('logged')`

describe.each(kinds)('stderr is %s', (_kind, open) => {
  test('nobody reads it: the event loop turns, and the process exits in bounded time', async () => {
    const stderr = open()
    const crowded = run(`${crowd}; logging.flushSync(); process.exit(7)`, ['ignore', 'pipe', stderr.given])
    const printed = textOf(crowded.stdout)
    const [code] = await once(crowded, 'exit')
    stderr.close()
    expect([await printed, code]).toEqual(['logged', 7])
  })

  test('a reader that comes late finds whole lines, and one that says how many are missing', async () => {
    const stderr = open()
    const crowded = run(`${crowd}; await told(); await logging.close(); process.exit()`, ['pipe', 'pipe', stderr.given])
    if (crowded.stdout) await once(crowded.stdout, 'data')
    const received = stderr.read(crowded)
    crowded.stdin?.write('go')
    const lines = (await received).trimEnd().split('\n')
    stderr.close()
    const records = lines.map((line) => JSON.parse(line))
    const notices = records.filter((record) => record.logger === 'svcd.logging')
    expect(notices).toHaveLength(1)
    expect(records.length - 1 + notices[0].dropped).toBe(100_000)
  })
})

test('a reader that went away costs one warning in the file, and the service goes on', async () => {
  const script = `
    const logging = new Logging({ ...options, file })
    await told()
    for (let line = 0; line < 100; line++) { logging.root.info('line ' + line); await turn() }
    await logging.close()
    process.exit()`
  const writing = run(script, ['pipe', 'ignore', 'pipe'])
  writing.stderr?.destroy()
  writing.stdin?.write('go')
  expect(await once(writing, 'exit')).toEqual([0, null])
  const lines = readFileSync(join(directory, 'svcd.log'), 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(101)
  const warnings = lines.filter((line) => line.includes('"WARNING"'))
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(/the console failed.*EPIPE/)
})

test('an exit in the middle of a write to the file loses nothing and splits nothing', async () => {
  const script = `
    const logging = new Logging({ ...options, file })
    for (let line = 0; line < 20_000; line++) {
      logging.root.info('line', { line })
      if (line % 1000 === 0) await turn()
    }
    logging.flushSync()
    process.exit()`
  expect(await once(run(script, 'ignore'), 'exit')).toEqual([0, null])
  const lines = readFileSync(join(directory, 'svcd.log'), 'utf8').trimEnd().split('\n')
  const numbers = lines.map((line) => JSON.parse(line).line)
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20_000 }, (_, line) => line))
})
