import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { homeOf } from '../../testing/exec-client.ts'
import { ask, start, startDesk, TEXT } from '../../testing/live-terminals.ts'
import { allowOnly, openLocalEngine } from '../../testing/live-workspace.ts'
import { type Person, startAccounts } from '../../testing/start-accounts.ts'

/** What the guides tell people to use. */
const SHELL = join(import.meta.dirname, '../../../../../examples/terminal/shell.mjs')

/** The example as a process, with what it has written so far. */
class Shell {
  readonly #process: ChildProcessWithoutNullStreams
  readonly exited: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor(command: readonly [string, ...string[]], door: { port: number; person: Person }) {
    const env = { PATH: process.env.PATH, SVC_URL: `http://127.0.0.1:${door.port}`, SVC_TOKEN: door.person.token }
    const [program, ...args] = command
    this.#process = spawn(program, args, { env })
    this.#process.stdout.on('data', (bytes: Buffer) => {
      this.stdout += bytes.toString('latin1')
    })
    this.#process.stderr.on('data', (bytes: Buffer) => {
      this.stderr += bytes.toString('latin1')
    })
    this.exited = once(this.#process, 'close').then(([code]) => code)
    onTestFinished(() => {
      this.#process.kill('SIGKILL')
    })
  }

  type(text: string): void {
    this.#process.stdin.write(text)
  }

  /** There is nothing more to type. */
  finish(): void {
    this.#process.stdin.end()
  }

  /** A text that no command line of the test contains. */
  shows(text: string): Promise<void> {
    return expect.poll(() => this.stdout).toContain(text)
  }
}

const plain = (...args: string[]): [string, ...string[]] => [process.execPath, SHELL, ...args]

/** In a terminal of its own, which it names first. */
const inTerminal = (...args: string[]): [string, ...string[]] => {
  const command = `tty; stty cols 100 rows 30; exec ${[process.execPath, SHELL, ...args].join(' ')}`
  return ['script', '--quiet', '--flush', '--return', '--command', command, '/dev/null']
}

/** An address that stays, whatever becomes of the server behind it. */
async function openRelay(to: { port: number }) {
  const sockets = new Set<Socket>()
  const relay = createServer((inner) => {
    const outer = connect(to.port, '127.0.0.1')
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  onTestFinished(() => {
    relay.close()
    cut()
  })
  return { port: (relay.address() as AddressInfo).port, cut }
}

test('what comes in is typed, all that the shell prints goes out, and the exit code is the shell’s', async () => {
  await using desk = await startDesk()
  const shell = new Shell(plain(desk.workspaceId), { port: desk.server.port, person: desk.ann })
  // More than the server sends to a client that acknowledges nothing.
  shell.type('seq 300000; echo he""llo\r')
  await shell.shows('\n299999\r\n300000\r\nhello')
  shell.type('exit 7\r')
  expect(await shell.exited).toBe(7)
  expect(shell.stderr).toBe('')
})

test('the end of what comes in ends the shell, after everything was done', async () => {
  await using desk = await startDesk()
  const shell = new Shell(plain(desk.workspaceId), { port: desk.server.port, person: desk.ann })
  shell.type('seq 2000\necho al""l\n')
  shell.finish()
  expect(await shell.exited).toBe(0)
  expect(shell.stdout).toContain('\n1999\r\n2000\r\n')
  expect(shell.stdout).toContain('all')
})

test('in a terminal, the shell has its size and all its keys, and Ctrl-] leaves it alive', async () => {
  await using desk = await startDesk()
  const door = { port: desk.server.port, person: desk.ann }
  const shell = new Shell(inTerminal(desk.workspaceId), door)
  await shell.shows('$ ')
  shell.type('kept=yes; stty size\r')
  await shell.shows('30 100')
  const [terminal = ''] = /\/dev\/pts\/\d+/.exec(shell.stdout) ?? []
  execFileSync('stty', ['-F', terminal, 'cols', '90', 'rows', '20'])
  shell.type('until stty size | grep "20 9""0"; do :; done\r')
  await shell.shows('20 90')
  shell.type('echo run""ning; cat\r')
  await shell.shows('running')
  shell.type('\x03')
  await shell.shows('^C')
  shell.type('\x1d')
  expect(await shell.exited).toBe(0)

  const next = new Shell(plain(desk.workspaceId), door)
  next.type('echo "kept: $kept"\r')
  await next.shows('kept: yes')
})

test('a server that is gone and back is the same shell, and nothing is missed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-example-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const desk = await startDesk({ folder })
  const address = { port: desk.server.port }
  const relay = await openRelay(address)
  const shell = new Shell(plain(desk.workspaceId), { port: relay.port, person: desk.ann })
  shell.type('x=same; mkfifo door; echo be""fore; read < door; echo mean""while\r')
  await shell.shows('before')
  relay.cut()
  await desk.server.crash()
  await expect.poll(() => shell.stderr).toContain('trying again until Ctrl-C')
  await writeFile(join(homeOf(desk.server, desk.workspaceId), 'door'), '\n')

  await using again = await startAccounts({ folder, openEngine: openLocalEngine })
  address.port = again.port
  await shell.shows('meanwhile')
  shell.type('echo "<$x>"; exit 3\r')
  await shell.shows('<same>')
  expect(await shell.exited).toBe(3)
  expect(shell.stdout.split('before\r\n')).toHaveLength(2)
})

test('a sign-in that has ended ends it with a sentence', async () => {
  await using desk = await startDesk()
  const shell = new Shell(plain(desk.workspaceId), { port: desk.server.port, person: desk.ann })
  shell.type('echo he""llo\r')
  await shell.shows('hello')
  await desk.ann.post('/auth/logout')
  expect(await shell.exited).toBe(1)
  expect(shell.stderr).toContain('sign in anew')
})

test('a shared terminal is listed and watched, until it is shared no longer', async () => {
  await using desk = await startDesk()
  const bob = await desk.server.person('bob')
  await allowOnly(desk.ann, desk.workspaceId, [[bob, ['join-workspace', 'spectate-on-shared-terminals']]])
  const door = { port: desk.server.port, person: bob }
  const hers = new Shell(plain(desk.workspaceId, '--share'), { port: desk.server.port, person: desk.ann })
  const tab = await desk.tab(desk.ann, TEXT)
  await tab.next('shared_terminals', ({ terminals }) => terminals.length > 0)
  const listed = new Shell(plain(desk.workspaceId, '--watch'), door)
  expect(await listed.exited).toBe(0)
  expect(listed.stdout).toBe(`${desk.ann.id} @1  ann: term, 0 watching\n`)

  const his = new Shell(plain(desk.workspaceId, '--watch', desk.ann.id, '@1'), door)
  await tab.next('shared_terminals', ({ terminals }) => terminals.some(({ viewers }) => viewers.length > 0))
  hers.type('echo for ev""erybody\r')
  await his.shows('for everybody')
  his.type('echo not al""lowed\r')
  await start(tab)
  await ask(tab, { cmd: 'unshare_window', window_id: '@1' })
  expect(await his.exited).toBe(1)
  expect(his.stderr).toBe('shell: it is no longer shared with you, or allowed\n')
  expect(hers.stdout).not.toContain('not allowed')
})
