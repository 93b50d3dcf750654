import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { described, startArchives } from '../../testing/start-archives.ts'
import { packed, rawMember, rawPax, TAR_END } from '../../testing/tar-blocks.ts'

const MB = 1024 * 1024

const link = (name: string, target: string) => rawMember({ type: '2', name, target })
const variables = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`V${number}`, value]))
const good = packed(described())
/** The same bytes with one bit of the byte at `at` turned. */
function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
  return copy
}

describe('refused, and nothing is left of it, is an archive that', () => {
  let server: Awaited<ReturnType<typeof startArchives>>
  beforeAll(async () => {
    server = await startArchives({ env: { SVCD_IMPORT_MAX_UNCOMPRESSED_MB: '10' } })
    await server.create({ name: 'first' })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test.each<[string, () => Buffer, number, string]>([
    ['is no gzip', () => Buffer.from('hello'), 400, 'gzip'],
    ['is empty', () => Buffer.alloc(0), 400, ''],
    ['is cut in the packing', () => good.subarray(0, -10), 400, 'gzip'],
    ['has a wrong checksum in the packing', () => flip(good, good.length - 6), 400, 'gzip'],
    ['is followed by something', () => Buffer.concat([good, Buffer.from('garbage')]), 400, 'gzip'],
    ['has no end mark', () => gzipSync(described()), 400, 'end mark'],
    [
      'ends in the middle of a file',
      () => gzipSync(Buffer.concat([described(), rawMember({ name: 'home/a', size: '00000007777' })])),
      400,
      'middle of a file',
    ],
    [
      'has a header with a wrong checksum',
      () => packed(described(), flip(rawMember({ name: 'home/a' }), 3)),
      400,
      'checksum',
    ],
    ['hides an archive behind its end', () => packed(described(), TAR_END, described()), 400, 'follows its end mark'],
    ['has an absolute name', () => packed(described(), rawMember({ name: '/etc/cron.d/x' }, 'x')), 400, 'absolute'],
    [
      'has an absolute name in pax',
      () => packed(described(), rawPax({ path: '/etc/x' }), rawMember({}, 'x')),
      400,
      'absolute',
    ],
    [
      'has a name that climbs out',
      () => packed(described(), rawMember({ name: 'home/../../x' }, 'x')),
      400,
      'leads out',
    ],
    ['has a name with a NUL', () => packed(described(), rawPax({ path: 'home/a\0b' }), rawMember({}, 'x')), 400, 'NUL'],
    ['has a member without a name', () => packed(described(), rawMember({ name: '' })), 400, 'without a name'],
    [
      'has a part that is too long',
      () => packed(described(), rawPax({ path: `home/${'n'.repeat(256)}` }), rawMember({})),
      400,
      'too long',
    ],
    [
      'has a path that is too long',
      () => packed(described(), rawPax({ path: `home/${'n/'.repeat(3000)}` }), rawMember({})),
      400,
      'too long',
    ],
    [
      'has a name that is not UTF-8',
      () => packed(described(), rawMember({ name: Buffer.from([0x68, 0xff]) })),
      400,
      'UTF-8',
    ],
    ['has a device', () => packed(described(), rawMember({ type: '3', name: 'home/null' })), 400, 'a device'],
    ['has a named pipe', () => packed(described(), rawMember({ type: '6', name: 'home/pipe' })), 400, 'a named pipe'],
    ['has a sparse file', () => packed(described(), rawMember({ type: 'S', name: 'home/s' })), 400, 'sparse'],
    [
      'has a hard link out of the home',
      () => packed(described(), rawMember({ type: '1', name: 'home/h', target: '../../etc/passwd' })),
      400,
      'leads out',
    ],
    [
      'has a hard link to an absolute name',
      () => packed(described(), rawMember({ type: '1', name: 'home/h', target: '/etc/passwd' })),
      400,
      'absolute',
    ],
    [
      'has a hard link to the description',
      () => packed(described(), rawMember({ type: '1', name: 'home/h', target: 'workspace.json' })),
      400,
      'hard link',
    ],
    [
      'has a hard link to what is not there',
      () => packed(described(), rawMember({ type: '1', name: 'home/h', target: 'home/none' })),
      400,
      'cannot be unpacked',
    ],
    [
      'has a hard link through a link',
      () =>
        packed(described(), link('home/l', '/etc'), rawMember({ type: '1', name: 'home/h', target: 'home/l/passwd' })),
      400,
      'through a link',
    ],
    [
      'writes through a link',
      () => packed(described(), link('home/l', '/tmp'), rawMember({ name: 'home/l/x' }, 'x')),
      400,
      'through a link',
    ],
    [
      'writes through a link that comes later',
      () => packed(described(), rawMember({ name: 'home/l/x' }, 'x'), link('home/l', '/tmp')),
      400,
      'cannot be unpacked',
    ],
    [
      'replaces a directory by a link',
      () =>
        packed(
          described(),
          rawMember({ type: '5', name: 'home/d' }),
          link('home/d', '/tmp'),
          rawMember({ name: 'home/d/x' }),
        ),
      400,
      'through a link',
    ],
    [
      'replaces a link by a file',
      () => packed(described(), link('home/l', '/etc/passwd'), rawMember({ name: 'home/l' }, 'x')),
      400,
      'replaces',
    ],
    ['has a link as its home', () => packed(described(), link('home', '/etc')), 400, 'no directory'],
    ['has a file as its home', () => packed(described(), rawMember({ name: 'home' }, 'x')), 400, 'no directory'],
    [
      'has a file where a directory is',
      () => packed(described(), rawMember({ name: 'home/a/b' }, 'x'), rawMember({ name: 'home/a' }, 'x')),
      400,
      'cannot be unpacked',
    ],
    [
      'lies about a size in pax',
      () => packed(described(), rawPax({ size: '99999999' }), rawMember({ name: 'home/a' }, 'x')),
      413,
      'unpacked',
    ],
    [
      'is a bomb',
      () => packed(described(), rawMember({ name: 'home/zeros' }, '\0'.repeat(12 * MB))),
      413,
      'exceeds 10 MB',
    ],
    [
      'is a bomb outside of the home',
      () => packed(described(), rawMember({ name: 'other' }, '\0'.repeat(12 * MB))),
      413,
      'exceeds 10 MB',
    ],
    ['is a bomb behind its end', () => packed(described(), Buffer.alloc(12 * MB)), 413, 'exceeds 10 MB'],
    ['has a huge description', () => packed(described({ pad: 'x'.repeat(MB) })), 413, 'exceeds 1 MB'],
    ['has no description', () => packed(rawMember({ name: 'home/a' }, 'x')), 400, 'no workspace.json'],
    ['has two descriptions', () => packed(described(), described()), 400, 'twice'],
    ['has a link as its description', () => packed(link('workspace.json', '/etc/passwd')), 400, 'no file'],
    ['has a description that is not JSON', () => packed(rawMember({ name: 'workspace.json' }, '{')), 400, 'not JSON'],
    [
      'has a description that is a list',
      () => packed(rawMember({ name: 'workspace.json' }, '[]')),
      400,
      'not a JSON object',
    ],
    ['is of no server', () => packed(described({ instance_id: undefined })), 400, 'another server'],
    ['is of another server', () => packed(described({ instance_id: randomUUID() })), 400, 'another server'],
    ['is of a later format', () => packed(described({ format: 2 })), 400, 'newer'],
    ['has no name', () => packed(described({ name: ' ' })), 400, 'name'],
    ['has a name nobody may have', () => packed(described({ name: 'a\u0000b' })), 400, 'name'],
    [
      'has unknown settings',
      () => packed(described({ settings: { nonsense: 1 } })),
      400,
      'Archive settings are invalid: ',
    ],
    ['has settings that are none', () => packed(described({ settings: 'x' })), 400, 'Archive settings are invalid: '],
    ['has wrong domains', () => packed(described({ allowed_domains: ['not a host'] })), 400, 'allowed_domains'],
    ['has domains that are no list', () => packed(described({ rejected_domains: 'x' })), 400, 'rejected_domains'],
    ['has a huge environment', () => packed(described({ env: variables(20_000, '') })), 400, 'too large'],
    ['has long variables', () => packed(described({ env: variables(10, 'x'.repeat(30_000)) })), 400, 'too large'],
    ['has the name of a workspace there is', () => packed(described({ name: 'first' })), 409, 'already exists'],
  ])('%s', async (_, archive, status, why) => {
    const before = await server.everything()
    const answer = await server.upload(archive())
    expect(answer).toEqual({ status, json: expect.objectContaining({ detail: expect.stringContaining(why) }) })
    expect(await server.everything()).toEqual(before)
  })
})
