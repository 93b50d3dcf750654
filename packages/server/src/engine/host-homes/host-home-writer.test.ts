import { randomUUID } from 'node:crypto'
import { lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { HomeNameRefused, type HomeWriter } from '../home-storage.ts'
import { HostHomes } from './host-homes.ts'

const isRoot = process.getuid?.() === 0

let root: string
let homes: HostHomes
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'homes-'))
  homes = new HostHomes({ root, owner: isRoot ? { uid: 1000, gid: 1001 } : undefined })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function* bytes(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function begin(): Promise<{ writer: HomeWriter; path: string }> {
  const id = randomUUID()
  await homes.ensure(id)
  return { writer: homes.writer(id), path: homes.pathOf(id) }
}

const read = (...parts: string[]): string => readFileSync(join(...parts), 'utf8')
const modeOf = (...parts: string[]): number => lstatSync(join(...parts)).mode & 0o7777

/** Paths of what is brought to the disk from now on. Each sync is passed on, unless it is to fail. */
async function watchSyncs(failWith?: Error): Promise<Set<string>> {
  const synced = new Set<string>()
  await using handle = await open(root)
  const prototype: FileHandle = Object.getPrototypeOf(handle)
  const { sync } = prototype
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    synced.add(readlinkSync(`/proc/self/fd/${this.fd}`))
    if (failWith) throw failWith
    await sync.call(this)
  })
  onTestFinished(() => spy.mockRestore())
  return synced
}

describe('a home that is finished is on the disk', () => {
  test('every file, every directory, and the way to the home', async () => {
    const synced = await watchSyncs()
    const { writer, path } = await begin()
    const files = Array.from({ length: 10 }, (_, index) => `deep/er/${index}`)
    for (const name of files) await writer.file(name, 0o600, bytes(name))
    await writer.directory('empty', 0o755)
    await writer.link('links/one', 'elsewhere')
    await writer.finish()
    const inHome = ['deep', 'deep/er', 'empty', 'links', ...files].map((name) => join(path, name))
    expect([...synced].toSorted()).toEqual([root, dirname(path), path, ...inHome].toSorted())
  })

  test('or it is not finished', async () => {
    await watchSyncs(new Error('the disk is broken'))
    const { writer } = await begin()
    await writer.file('a', 0o600, bytes('a'))
    await expect(writer.finish()).rejects.toThrow('the disk is broken')
  })
})

describe('filling a home', () => {
  test('writes directories, files and links, with missing parents', async () => {
    const { writer, path } = await begin()
    await writer.directory('a', 0o750)
    await writer.file('a/file', 0o640, bytes('one', 'two'))
    await writer.file('deep/er/file', 0o600, bytes())
    await writer.link('a/link', '../../../../etc/passwd')
    await writer.hardLink('again', 'a/file')
    await writer.finish()
    expect(read(path, 'a/file')).toBe('onetwo')
    expect(read(path, 'again')).toBe('onetwo')
    expect(lstatSync(join(path, 'again')).nlink).toBe(2)
    expect(readlinkSync(join(path, 'a/link'))).toBe('../../../../etc/passwd')
    expect(modeOf(path, 'a')).toBe(0o750)
    expect(modeOf(path, 'a/file')).toBe(0o640)
  })

  test('keeps no mode that gives a power, and keeps directories open to their owner', async () => {
    const { writer, path } = await begin()
    await writer.file('file', 0o6755, bytes())
    await writer.directory('closed', 0o1050)
    await writer.file('closed/file', 0o000, bytes('in'))
    await writer.finish()
    expect(modeOf(path, 'file')).toBe(0o755)
    expect(modeOf(path, 'closed')).toBe(0o750)
    expect(modeOf(path, 'closed/file')).toBe(0)
  })

  test.runIf(isRoot)("gives everything to the workspace's user", async () => {
    const { writer, path } = await begin()
    await writer.file('made/on/the/way/file', 0o600, bytes())
    await writer.link('link', '/etc')
    await writer.finish()
    for (const name of ['made', 'made/on', 'made/on/the/way', 'made/on/the/way/file', 'link']) {
      expect(lstatSync(join(path, name)), name).toMatchObject({ uid: 1000, gid: 1001 })
    }
    expect(lstatSync('/etc').uid).toBe(0)
  })

  test('lets the later of two entries with one name stay', async () => {
    const { writer, path } = await begin()
    await writer.file('file', 0o600, bytes('first'))
    await writer.hardLink('other', 'file')
    await writer.file('file', 0o600, bytes('second'))
    await writer.link('was-link', 'file')
    await writer.file('was-link', 0o600, bytes('third'))
    await writer.file('was-file', 0o600, bytes('fourth'))
    await writer.link('was-file', 'target')
    await writer.finish()
    expect([read(path, 'file'), read(path, 'other'), read(path, 'was-link')]).toEqual(['second', 'first', 'third'])
    expect(readlinkSync(join(path, 'was-file'))).toBe('target')
  })
})

describe('a name is refused', () => {
  test.each([
    { name: '', why: 'it is empty' },
    { name: '/etc/passwd', why: 'it is absolute' },
    { name: '..', why: 'it leaves the home' },
    { name: 'a/../../x', why: 'it leaves the home' },
    { name: 'a//b', why: 'it has an empty part' },
    { name: './a', why: 'it has an empty part' },
    { name: 'a/', why: 'it has an empty part' },
    { name: 'a\0b', why: 'it holds a NUL byte' },
    { name: 'x'.repeat(256), why: 'a part of it is longer than 255 bytes' },
    { name: 'd/'.repeat(600), why: 'it has more than 512 parts' },
  ])('because $why', async ({ name, why }) => {
    const { writer, path } = await begin()
    for (const write of [
      () => writer.directory(name, 0o755),
      () => writer.file(name, 0o644, bytes()),
      () => writer.link(name, 'target'),
      () => writer.hardLink(name, 'target'),
      () => writer.hardLink('name', name),
    ]) {
      await expect(write()).rejects.toThrow(HomeNameRefused)
      await expect(write()).rejects.toThrow(why)
    }
    await writer.finish()
    expect(await readdir(path)).toEqual([])
  })

  test('when it passes through a link of the same archive', async () => {
    const { writer, path } = await begin()
    await writer.link('link', '/tmp')
    await expect(writer.file('link/file', 0o644, bytes())).rejects.toThrow('passes through the link link')
    await expect(writer.directory('link/a/b', 0o755)).rejects.toThrow(HomeNameRefused)
    await expect(writer.link('link/x', 'y')).rejects.toThrow(HomeNameRefused)
    await expect(writer.hardLink('x', 'link/passwd')).rejects.toThrow(HomeNameRefused)
    await expect(writer.hardLink('x', 'link')).rejects.toThrow(HomeNameRefused)
    await writer.finish()
    expect(await readdir(path)).toEqual(['link'])
  })

  test('when a link of it is there already, made by whoever', async () => {
    const { writer, path } = await begin()
    const outside = mkdtempSync(join(root, 'outside-'))
    symlinkSync(outside, join(path, 'link'))
    await expect(writer.file('link/file', 0o644, bytes())).rejects.toThrow('link is not a directory')
    await expect(writer.directory('link', 0o777)).rejects.toThrow(HomeNameRefused)
    await expect(writer.hardLink('x', 'link/file')).rejects.toThrow(HomeNameRefused)
    // A file takes the place of the link, not of what it points to.
    await writer.file('link', 0o644, bytes('mine'))
    await writer.finish()
    expect(await readdir(outside)).toEqual([])
    expect(read(path, 'link')).toBe('mine')
  })

  test('when a directory has it, or a file is meant as one', async () => {
    const { writer } = await begin()
    await writer.file('d/file', 0o644, bytes())
    await expect(writer.file('d', 0o644, bytes())).rejects.toThrow('d: there is a directory of this name')
    await expect(writer.file('d/file/x', 0o644, bytes())).rejects.toThrow('d/file is not a directory')
    await writer.link('d', 'elsewhere')
    await expect(writer.finish()).rejects.toThrow('d: there is a directory of this name')
  })

  test.each(['missing', 'd', 'd/missing', 'no/where'])('as the target of a hard link when it is %s', async (target) => {
    const { writer } = await begin()
    await writer.directory('d', 0o755)
    await expect(writer.hardLink('name', target)).rejects.toThrow(`there is no file ${target} to link to`)
    await writer.close()
  })

  test.each(['', 'a\0b', 'x'.repeat(5000)])('with a link to what cannot be a target', async (target) => {
    const { writer } = await begin()
    await expect(writer.link('name', target)).rejects.toThrow('cannot have this target')
    await writer.close()
  })
})

test('content is taken no faster than it is written', async () => {
  const { writer, path } = await begin()
  let ahead = 0
  async function* content(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 50; index++) {
      ahead = Math.max(ahead, index * 65_536 - lstatSync(join(path, 'file')).size)
      yield Buffer.alloc(65_536)
    }
  }
  await writer.file('file', 0o600, content())
  await writer.finish()
  expect(ahead).toBe(0)
})
