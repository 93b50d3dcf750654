import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { chmod, link, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { homeOf } from '../../testing/exec-client.ts'
import { makeWorkspace, openLocalEngine } from '../../testing/live-workspace.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { scratchFolder } from '../../testing/start-daemon.ts'

/** What the guide tells people to use. */
const REMOTE_SHELL = join(import.meta.dirname, '../../../../../examples/sync/remote-shell.mjs')
const ODD_NAMES = [' a b ', '-n', '$HOME', '`id`', '"', "'", '\\', '*', 'ä€😀', 'line\nbreak', '#', '.hidden', '~']

let server: AccountsServer
let ann: Person
let workspaceId: string
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  workspaceId = await makeWorkspace(ann)
})
afterAll(() => server[Symbol.asyncDispose]())

interface Synced {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The real rsync, on both sides. What it changed is its output. */
function rsync(person: Person, ...args: string[]): Promise<Synced> {
  const env = { PATH: process.env.PATH, SVC_URL: `http://127.0.0.1:${server.port}`, SVC_TOKEN: person.token }
  const shell = `${process.execPath} ${REMOTE_SHELL}`
  return new Promise((resolve) => {
    execFile('rsync', ['-aHi', '-e', shell, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

/** 500 files, some of them odd, in a folder that is gone after the test. */
async function makeTree(): Promise<string> {
  const root = join(await scratchFolder(), 'tree')
  for (let n = 0; n < 500; n++) {
    const folder = join(root, `folder ${n % 20}`, n % 3 === 0 ? 'deep/er' : '')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `file ${n}`), `${n}\n`.repeat(n))
  }
  await mkdir(join(root, 'odd'))
  for (const name of ODD_NAMES) await writeFile(join(root, 'odd', name), name)
  await writeFile(Buffer.concat([Buffer.from(join(root, 'odd/')), Buffer.from([0xff, 0xfe, 0x80])]), 'not UTF-8')
  await writeFile(join(root, 'large'), randomBytes(20 * 1024 * 1024))
  await writeFile(join(root, 'empty'), '')
  await mkdir(join(root, 'empty folder'))
  await symlink('folder 1/nowhere', join(root, 'dangling'))
  await symlink('large', join(root, 'link'))
  await link(join(root, 'large'), join(root, 'same as large'))
  for (const mode of [0o600, 0o755, 0o444, 0o640]) {
    await writeFile(join(root, mode.toString(8)), 'with a mode', { mode: 0o600 })
    await chmod(join(root, mode.toString(8)), mode)
  }
  await utimes(join(root, 'empty'), 1_000_000_000, 1_000_000_000)
  return root
}

/** One line for each name in a folder: what it is, its mode, its time, what is in it. */
async function describe(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true, encoding: 'latin1' })
  const lines = names.map(async (name) => {
    const path = Buffer.from(`${root}/${name}`, 'latin1')
    const stats = lstatSync(path)
    const facts = [JSON.stringify(name), stats.mode.toString(8), stats.isDirectory() ? '' : stats.nlink]
    if (stats.isSymbolicLink()) return [...facts, await readlink(path)].join(' ')
    if (stats.isDirectory()) return facts.join(' ')
    const digest = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    return [...facts, Math.floor(stats.mtimeMs / 1000), digest].join(' ')
  })
  return (await Promise.all(lines)).sort()
}

test('a tree goes there and comes back the same; a second time nothing is sent', async () => {
  const source = await makeTree()
  const original = await describe(source)
  expect(original.length).toBeGreaterThan(540)

  const there = `${workspaceId}:a place with $paces/tree/`
  const pushed = await rsync(ann, '--mkpath', `${source}/`, there)
  expect(pushed).toMatchObject({ code: 0, stderr: '' })
  expect(await describe(join(homeOf(server, workspaceId), 'a place with $paces/tree'))).toEqual(original)
  expect(await rsync(ann, `${source}/`, there)).toEqual({ code: 0, stdout: '', stderr: '' })

  const back = join(await scratchFolder(), 'back')
  expect(await rsync(ann, '--no-owner', '--no-group', there, `${back}/`)).toMatchObject({ code: 0, stderr: '' })
  expect(await describe(back)).toEqual(original)
  expect(await rsync(ann, '--no-owner', '--no-group', there, `${back}/`)).toEqual({ code: 0, stdout: '', stderr: '' })

  await writeFile(join(source, 'empty'), 'no longer')
  const changed = await rsync(ann, '--delete', `${source}/`, there)
  expect(changed.stdout.trim().split('\n')).toEqual([expect.stringMatching(/^<f.* empty$/)])
})

test('without the permission neither direction works, both say why, and nothing is changed', async () => {
  const bob = await server.person('bob')
  await succeed(ann.post(`/workspaces/${workspaceId}/roles/spectators`, { email: bob.email }))
  const home = homeOf(server, workspaceId)
  await mkdir(join(home, 'kept'), { recursive: true })
  await writeFile(join(home, 'kept/secret'), 'of Ann')
  const before = await describe(home)
  const source = join(await scratchFolder(), 'source')
  await mkdir(source)
  await writeFile(join(source, 'mine'), 'of Bob')

  for (const paths of [
    [`${source}/`, `${workspaceId}:kept/`],
    [`${workspaceId}:kept/`, `${source}/`],
  ]) {
    const { code, stderr } = await rsync(bob, ...paths)
    expect(code).not.toBe(0)
    expect(stderr).toContain('needs the exec-and-sync permission')
  }
  expect(await describe(home)).toEqual(before)
  expect(await readdir(source)).toEqual(['mine'])
})

test('what the other side complains about comes apart from the bytes', async () => {
  const { code, stderr } = await rsync(ann, `${workspaceId}:no/such/place/`, await scratchFolder())
  expect(code).toBe(23)
  expect(stderr).toContain('No such file or directory')
})
