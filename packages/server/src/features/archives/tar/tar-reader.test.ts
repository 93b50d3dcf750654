import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BLOCK_BYTES } from '@svc/protocol/tar/tar-format'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawMember, rawPax, TAR_END } from '../../../testing/tar-blocks.ts'
import { type ReadBudget, readTar } from './tar-reader.ts'
import { type TarMember, writeTar } from './tar-writer.ts'

const run = promisify(execFile)
const endless: ReadBudget = { entry: () => undefined, bytes: () => undefined }

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}

const file = (name: string, content: string | Buffer, mode = 0o644): TarMember => ({
  kind: 'file',
  name,
  mode,
  modifiedAt: 1_700_000_000,
  size: Buffer.byteLength(content),
  open: () => each([Buffer.from(content)]),
})
const directory = (name: string): TarMember => ({ kind: 'directory', name, mode: 0o755, modifiedAt: 0 })
const link = (name: string, target: string): TarMember => ({ kind: 'link', name, target, modifiedAt: 0 })

const pack = (members: readonly TarMember[]) => bytesOf(writeTar(each(members)))

async function unpack(archive: Uint8Array, options: { pieces?: number; budget?: ReadBudget } = {}) {
  const found = []
  for await (const entry of readTar(inPieces(archive, options.pieces ?? 10_000), options.budget ?? endless)) {
    const { content, ...rest } = entry
    found.push({ ...rest, text: (await bytesOf(content)).toString() })
  }
  return found
}

describe('what was written', () => {
  const members: TarMember[] = [
    directory('d'),
    file('d/plain.txt', 'hello'),
    file('empty', ''),
    file('exactly one block', 'x'.repeat(BLOCK_BYTES)),
    file(`long/${'n'.repeat(240)}/${'m'.repeat(200)}`, 'long'),
    file('größe/日本語 😀', 'ünïcode'),
    file('a line\nbreak and a tab\t', 'odd'),
    file('run me', '#!', 0o755),
    link('short link', '../elsewhere'),
    link('long link', `/${'t'.repeat(300)}/ä`),
  ]

  test.each([1, 7, 512, 513, 65_536])('is read back, arriving %i bytes at a time', async (pieces) => {
    const found = await unpack(await pack(members), { pieces })
    expect(found.map(({ name }) => name)).toEqual(
      members.map((item) => (item.kind === 'directory' ? `${item.name}/` : item.name)),
    )
    expect(found.find(({ name }) => name.startsWith('größe'))?.text).toBe('ünïcode')
    expect(found.find(({ name }) => name === 'run me')?.mode).toBe(0o755)
    expect(found.find(({ name }) => name === 'long link')?.linkTarget).toBe(`/${'t'.repeat(300)}/ä`)
    expect(found.map(({ kind }) => kind)).toEqual(members.map(({ kind }) => kind))
  })

  test('can be skipped, and the next member is found', async () => {
    const names: string[] = []
    for await (const entry of readTar(inPieces(await pack(members), 100), endless)) names.push(entry.name)
    expect(names).toHaveLength(members.length)
  })

  test('may be larger than eleven octal digits can tell', async () => {
    const size = 8 ** 11
    const huge: TarMember = { kind: 'file', name: 'huge', mode: 0o600, modifiedAt: 0, size, open: () => each([]) }
    const headers: Buffer[] = []
    // The content is not there, and the writer says so; its headers are what this is about.
    await expect(async () => {
      for await (const part of writeTar(each([huge]))) headers.push(Buffer.from(part))
    }).rejects.toThrow('bytes')
    const entries = readTar(inPieces(Buffer.concat(headers), 512), endless)
    expect((await entries.next()).value).toMatchObject({ name: 'huge', size })
    await entries.return()
  })

  test('is broken off when a file is not as long as announced', async () => {
    const lie: TarMember = { kind: 'file', name: 'a', mode: 0, modifiedAt: 0, size: 3, open: () => each([TAR_END]) }
    await expect(pack([lie])).rejects.toThrow('announced')
  })
})

describe('what GNU tar wrote', () => {
  let folder = ''
  const longName = `${'n'.repeat(120)}/${'m'.repeat(120)}`
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-tar-'))
    await mkdir(join(folder, 'in', 'n'.repeat(120)), { recursive: true })
    await writeFile(join(folder, 'in', longName), 'long')
    await writeFile(join(folder, 'in', 'größe'), 'x')
    await symlink('t'.repeat(150), join(folder, 'in', 'link'))
    await run('ln', [join(folder, 'in', 'größe'), join(folder, 'in', 'same')])
  })
  afterAll(() => rm(folder, { recursive: true }))

  test.each(['gnu', 'posix', 'oldgnu'])('in its format %s is read', async (format) => {
    const { stdout } = await run('tar', ['-c', `--format=${format}`, '-C', folder, 'in'], { encoding: 'buffer' })
    const found = await unpack(stdout)
    expect(found.find(({ name }) => name === `in/${longName}`)?.text).toBe('long')
    expect(found.find(({ name }) => name === 'in/link')?.linkTarget).toBe('t'.repeat(150))
    expect(found.find(({ kind }) => kind === 'hard link')).toBeDefined()
    expect(found.some(({ name }) => name === 'in/größe')).toBe(true)
  })

  test('and what we write is read by it', async () => {
    await writeFile(join(folder, 'ours.tar'), await pack([directory('d'), file(longName, 'long'), link('l', 'größe')]))
    const { stdout } = await run('tar', ['-tvf', join(folder, 'ours.tar')], {
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    })
    expect(stdout).toContain(longName)
    expect(stdout).toContain('l -> größe')
  })
})

describe('refused is', () => {
  const flipped = rawMember({ name: 'a' })
  flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0)

  test.each<[string, Buffer, string]>([
    ['a header that does not fit its checksum', Buffer.concat([flipped, TAR_END]), 'checksum'],
    ['an archive without its end mark', rawMember({}), 'end mark'],
    ['half a header', Buffer.concat([rawMember({}), Buffer.alloc(100)]), 'end mark'],
    ['an archive that ends in the middle of a file', rawMember({ size: '00000007777' }), 'middle of a file'],
    ['a file without its filling', rawMember({}, 'abc').subarray(0, BLOCK_BYTES + 3), 'middle of a file'],
    ['something behind the end mark', Buffer.concat([TAR_END, rawMember({}), TAR_END]), 'follows its end mark'],
    ['a number that is none', Buffer.concat([rawMember({ size: '0000000-001' }), TAR_END]), 'no number'],
    [
      'a size beyond all bounds',
      rawMember({ size: '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' }),
      'out of bounds',
    ],
    ['a character device', Buffer.concat([rawMember({ type: '3' }), TAR_END]), 'a device'],
    ['a block device', Buffer.concat([rawMember({ type: '4' }), TAR_END]), 'a device'],
    ['a named pipe', Buffer.concat([rawMember({ type: '6' }), TAR_END]), 'a named pipe'],
    ['a sparse file', Buffer.concat([rawMember({ type: 'S' }), TAR_END]), 'a sparse file'],
    [
      'a sparse file in the way of pax',
      Buffer.concat([rawPax({ 'GNU.sparse.major': '1' }), rawMember({}), TAR_END]),
      'sparse',
    ],
    ['a type nobody knows', Buffer.concat([rawMember({ type: 'Z' }), TAR_END]), 'unknown'],
    ['a link with content', Buffer.concat([rawMember({ type: '2', target: 'x' }, 'abc'), TAR_END]), 'has content'],
    ['a directory with content', Buffer.concat([rawMember({ type: '5' }, 'abc'), TAR_END]), 'has content'],
    ['a name that is not UTF-8', Buffer.concat([rawMember({ name: Buffer.from([0xc3, 0x28]) }), TAR_END]), 'not UTF-8'],
    ['an extended header without end', rawMember({ type: 'x', size: '00007777777' }), 'too long'],
    ['an extended header that is cut', rawMember({ type: 'x' }, '100 path=a\n'), 'cannot be read'],
    ['a record of no length', rawMember({ type: 'x' }, '0 path=a\n'), 'cannot be read'],
    ['a record without a value', rawMember({ type: 'x' }, '8 patha\n'), 'cannot be read'],
    ['a record as long as nothing', rawMember({ type: 'x' }, '2 \n'), 'cannot be read'],
    ['a negative size in pax', Buffer.concat([rawPax({ size: '-1' }), rawMember({}), TAR_END]), 'no size'],
    ['a size with a fraction in pax', Buffer.concat([rawPax({ size: '1.5' }), rawMember({}), TAR_END]), 'no size'],
    ['nothing at all', Buffer.alloc(0), 'end mark'],
  ])('%s', async (_, archive, why) => {
    await expect(unpack(archive)).rejects.toThrow(why)
    await expect(unpack(archive)).rejects.toMatchObject({ code: 'archive_invalid' })
  })
})

test('a pax header counts for the next member alone, a global one for all', async () => {
  const archive = [rawPax({ path: 'global' }, 'g'), rawPax({ path: 'first' }), rawMember({}), rawMember({}), TAR_END]
  expect((await unpack(Buffer.concat(archive))).map(({ name }) => name)).toEqual(['first', 'global'])
})

test('rights beyond the permissions are dropped', async () => {
  expect((await unpack(Buffer.concat([rawMember({ mode: '0006755' }), TAR_END])))[0]?.mode).toBe(0o755)
})

test('every header and every byte announced is counted before it is read', async () => {
  const counted = { entries: 0, bytes: 0 }
  const budget: ReadBudget = {
    entry: () => void counted.entries++,
    bytes(count) {
      counted.bytes += count
      if (counted.bytes > 1000) throw new Error('too much')
    },
  }
  await expect(unpack(rawMember({ size: '77777777777' }), { budget })).rejects.toThrow('too much')
  expect(counted).toEqual({ entries: 1, bytes: 8 ** 11 - 1 })
})
