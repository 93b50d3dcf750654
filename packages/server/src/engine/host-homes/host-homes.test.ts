import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HomeEntry } from '../home-storage.ts'
import { HostHomes } from './host-homes.ts'

let root: string
let homes: HostHomes
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'homes-'))
  homes = new HostHomes({ root, owner: isRoot ? { uid: 1000, gid: 1001 } : undefined })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const isRoot = process.getuid?.() === 0

/** A new home, and its place on the host. */
async function newHome(): Promise<{ id: string; path: string }> {
  const id = randomUUID()
  await homes.ensure(id)
  return { id, path: homes.pathOf(id) }
}

async function walked(id: string): Promise<(HomeEntry & { content?: string })[]> {
  const entries: (HomeEntry & { content?: string })[] = []
  for await (const entry of homes.walk(id)) {
    if (entry.kind !== 'file') entries.push(entry)
    else entries.push({ ...entry, content: Buffer.concat(await entry.open().toArray()).toString() })
  }
  return entries
}

describe('a home', () => {
  test('is made once, and stays as it is when it is asked for again', async () => {
    const { id, path } = await newHome()
    writeFileSync(join(path, 'file'), 'kept')
    await homes.ensure(id)
    expect(await readFile(join(path, 'file'), 'utf8')).toBe('kept')
  })

  test.runIf(isRoot)("belongs to the workspace's user", async () => {
    const { id, path } = await newHome()
    expect(statSync(path)).toMatchObject({ uid: 1000, gid: 1001 })
    chownSync(path, 0, 0) // as after a server that was killed in between
    await homes.ensure(id)
    expect(statSync(path)).toMatchObject({ uid: 1000, gid: 1001 })
  })

  test.each(['', '.', '..', '../x', `${randomUUID()}/..`, `${randomUUID()}\n`, randomUUID().toUpperCase()])(
    'is not made for %j, which is no id',
    async (id) => {
      await expect(homes.ensure(id)).rejects.toThrow('not the id of a workspace')
      await expect(homes.remove(id)).rejects.toThrow('not the id of a workspace')
    },
  )

  test('has the free space of its disk', async () => {
    expect(await homes.freeBytes()).toBeGreaterThan(0)
  })

  test('takes the bytes that its files take on disk, a file with two names once', async () => {
    const { id, path } = await newHome()
    const empty = await homes.measure(id, AbortSignal.timeout(10_000))
    writeFileSync(join(path, 'big'), Buffer.alloc(1_000_000, 1))
    execFileSync('ln', [join(path, 'big'), join(path, 'same')])
    execFileSync('truncate', ['-s', '1G', join(path, 'holes')])
    const bytes = (await homes.measure(id, AbortSignal.timeout(10_000))) - empty
    expect(bytes).toBeGreaterThanOrEqual(1_000_000)
    expect(bytes).toBeLessThan(1_100_000)
    expect(await homes.measure(id, AbortSignal.abort())).toBeLessThan(1_000_000)
    expect(await homes.measure(randomUUID(), AbortSignal.timeout(10_000))).toBe(0)
  })
})

describe('removing a home', () => {
  test('takes everything in it, however deep, long or closed its names are', async () => {
    const { id, path } = await newHome()
    // Deeper than any path can be written: built from inside.
    execFileSync('bash', [
      '-c',
      `cd "$1" && n=$(printf 'x%.0s' {1..200}) && for i in {1..60}; do mkdir "$n" && cd "$n" || exit 1; done && touch "$n"`,
      '-',
      path,
    ])
    mkdirSync(join(path, 'closed/inside'), { recursive: true })
    writeFileSync(join(path, 'closed/inside/file'), '')
    writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0xfe])]), 'no text')
    chmodSync(join(path, 'closed/inside'), 0)
    chmodSync(join(path, 'closed'), 0)
    await homes.remove(id)
    expect(await readdir(root)).not.toContain(id)
    expect(await readdir(join(root, '.removed'))).toEqual([])
  })

  test('does not follow links, nor mind a home that is not there', async () => {
    const { id, path } = await newHome()
    const other = await newHome()
    writeFileSync(join(other.path, 'precious'), '')
    chmodSync(other.path, 0o555)
    symlinkSync(other.path, join(path, 'link'))
    await homes.remove(id)
    await homes.remove(id)
    expect(await readdir(other.path)).toEqual(['precious'])
    expect((await stat(other.path)).mode & 0o777).toBe(0o555)
    chmodSync(other.path, 0o755)
  })

  test('is finished by a sweep when it was interrupted', async () => {
    mkdirSync(join(root, '.removed/half/of/it'), { recursive: true })
    await homes.sweep()
    expect(await readdir(join(root, '.removed'))).toEqual([])
  })
})

describe('walking a home', () => {
  test('shows parents before their content, links as links, and no pipes or sockets', async () => {
    const { id, path } = await newHome()
    mkdirSync(join(path, 'a/b'), { recursive: true })
    writeFileSync(join(path, 'a/b/file'), 'content', { mode: 0o640 })
    execFileSync('chmod', ['4755', join(path, 'a/b/file')])
    symlinkSync('/etc', join(path, 'outside'))
    execFileSync('mkfifo', [join(path, 'pipe')])
    const entries = await walked(id)
    const names = entries.map(({ name }) => name)
    expect([...names].sort()).toEqual(['a', 'a/b', 'a/b/file', 'outside'])
    expect(names.indexOf('a')).toBeLessThan(names.indexOf('a/b'))
    expect(entries.find(({ name }) => name === 'outside')).toMatchObject({ kind: 'link', target: '/etc' })
    expect(entries.find(({ name }) => name === 'a/b/file')).toMatchObject({
      kind: 'file',
      size: 7,
      mode: 0o755,
      content: 'content',
    })
  })

  test.each([
    ['grows', Buffer.alloc(300_000, 'b')],
    ['shrinks', Buffer.alloc(10, 'b')],
  ])('gives exactly the promised bytes of a file that %s', async (_, later) => {
    const { id, path } = await newHome()
    writeFileSync(join(path, 'file'), Buffer.alloc(100_000, 'a'))
    for await (const entry of homes.walk(id)) {
      if (entry.kind !== 'file') throw new Error('a file was expected')
      writeFileSync(join(path, 'file'), later)
      const bytes = Buffer.concat(await entry.open().toArray())
      expect(bytes.length).toBe(100_000)
      expect(bytes.subarray(later.length).every((byte) => byte === 0)).toBe(true)
    }
  })

  test('leaves out what vanishes, and lets go of everything when it is given up', async () => {
    const { id, path } = await newHome()
    for (const name of ['one', 'two', 'three']) writeFileSync(join(path, name), Buffer.alloc(200_000))
    const before = await openHandles()
    for await (const entry of homes.walk(id)) {
      if (entry.kind === 'file') entry.open().read() // begun, and not read to its end
      for (const name of await readdir(path)) rmSync(join(path, name))
    }
    for await (const _ of homes.walk(id)) break
    await expect.poll(openHandles).toBe(before)
    expect(await walked(randomUUID())).toEqual([])
  })

  test('names what is nested beyond measure instead of showing it, and shows the rest', async () => {
    const { id, path } = await newHome()
    const deepest = Array.from({ length: 512 }, () => 'd').join('/')
    mkdirSync(join(path, 'd/'.repeat(700)), { recursive: true })
    writeFileSync(join(path, deepest, 'file'), '')
    writeFileSync(join(path, 'plain'), '')
    const entries = await walked(id)
    const reason = 'it lies more than 512 levels deep'
    expect(entries.filter(({ kind }) => kind === 'directory')).toHaveLength(512)
    expect(entries.find(({ name }) => name === deepest)).toMatchObject({ kind: 'directory' })
    expect(entries.filter(({ kind }) => kind === 'file').map(({ name }) => name)).toEqual(['plain'])
    expect(entries.filter(({ kind }) => kind === 'left-out').toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { kind: 'left-out', name: `${deepest}/d`, reason },
      { kind: 'left-out', name: `${deepest}/file`, reason },
    ])
    expect(await homes.measure(id, AbortSignal.timeout(10_000))).toBeGreaterThan(0)
  })

  test('names a large file that is mostly holes instead of showing it', async () => {
    const { id, path } = await newHome()
    execFileSync('truncate', ['-s', '1T', join(path, 'holes')])
    execFileSync('truncate', ['-s', '1M', join(path, 'small')])
    const kinds: [string, string][] = []
    for await (const { name, kind } of homes.walk(id)) kinds.push([name, kind])
    expect(kinds.toSorted()).toEqual([
      ['holes', 'left-out'],
      ['small', 'file'],
    ])
  })
})

async function openHandles(): Promise<number> {
  const links = await readdir('/proc/self/fd')
  return links.length
}
