import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { described, startArchives, type UploadOptions } from '../../testing/start-archives.ts'
import { packed, rawMember, TAR_END } from '../../testing/tar-blocks.ts'

const MB = 1024 * 1024

test('what only this server does not offer is left out', async () => {
  await using server = await startArchives()
  const answer = await server.upload(
    packed(
      described({
        image: 'bad:1',
        mounts: ['ok:/data', '/etc:/etc'],
        egress_mode: 'sideways',
        per_handle_home: 'yes',
        classification_banner: 'x'.repeat(200),
        auto_start: true,
        health_check: 7,
        service_command: ['no'],
        num_ports: 5000,
        setup_state: 'pending',
        hosted_public: true,
        env: { A: 'b', PATH: '/x', LD_PRELOAD: 'x', SVCD_X: 'x', SVCWS_X: 'x', SVC_X: 'x', N: 5 },
      }),
    ),
  )
  expect(answer.json).toMatchObject({
    name: 'from archive',
    image: null,
    mounts: null,
    egress_mode: 'interactive',
    per_handle_home: true,
    classification_banner: null,
    auto_start: false,
    health_check: null,
    service_command: null,
    num_ports: 5,
    setup_state: 'complete',
    hosted_public: false,
    env: { A: 'b' },
  })
})

test('what belongs to neither description nor home is ignored, and nested archives are files', async () => {
  await using server = await startArchives()
  const nested = packed(rawMember({ name: '/etc/passwd' }, 'x')).toString('latin1')
  const answer = await server.upload(
    packed(described(), rawMember({ name: 'readme' }, 'x'), rawMember({ name: './home/./a//in.tar.gz' }, nested)),
  )
  expect(answer.status).toBe(200)
  const home = server.homes.pathOf(String(answer.json.id))
  expect(await readdir(home, { recursive: true })).toEqual(['a', 'a/in.tar.gz'])
})

test('hard links within the home, several packings, and zeros behind them are taken', async () => {
  await using server = await startArchives()
  const first = Buffer.concat([described(), rawMember({ name: 'home/a' }, 'same')])
  const second = Buffer.concat([rawMember({ type: '1', name: 'home/b', target: 'home/a' }), TAR_END])
  const answer = await server.upload(Buffer.concat([gzipSync(first), gzipSync(second), Buffer.alloc(100)]))
  expect(answer.status).toBe(200)
  expect(await readFile(join(server.homes.pathOf(String(answer.json.id)), 'b'), 'utf8')).toBe('same')
})

test.each<[string, UploadOptions, string]>([
  ['the form', { name: ' chosen ', query: '?name=asked' }, 'chosen'],
  ['the query', { query: '?name=asked' }, 'asked'],
  ['the archive', {}, 'from archive'],
  ['the archive when the form has an empty one', { name: ' ' }, 'from archive'],
])('the name comes from %s', async (_, options, name) => {
  await using server = await startArchives()
  expect((await server.upload(packed(described()), options)).json).toMatchObject({ name })
})

test('an upload over the limit is refused while it comes, or before it does', async () => {
  await using server = await startArchives({ env: { SVCD_FILE_UPLOAD_SIZE_MAX: String(2 * MB) } })
  const before = await server.everything()
  const detail = 'Archive exceeds 2 MB limit'
  const slightly = await server.upload(Buffer.alloc(2 * MB + 1))
  expect(slightly).toEqual({ status: 413, json: expect.objectContaining({ detail, code: 'archive_too_large' }) })
  const far = await server.upload(Buffer.alloc(20 * MB))
  expect(far).toEqual({ status: 413, json: expect.objectContaining({ detail }) })
  expect(await server.everything()).toEqual(before)
})

test('a form without the file is refused', async () => {
  await using server = await startArchives()
  const form = new FormData()
  form.append('name', 'x')
  const answer = await fetch(`${server.api}/workspaces/import`, {
    method: 'POST',
    headers: server.authorization,
    body: form,
  })
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ detail: [{ type: 'missing', loc: ['body', 'file'] }] })
})

test('an upload of which no workspace came is not in the audit trail', async () => {
  await using server = await startArchives()
  const before = await server.everything()
  await sql`CREATE TRIGGER full BEFORE INSERT ON workspaces BEGIN SELECT RAISE(ABORT, 'full'); END`.execute(
    server.storage.db,
  )
  expect((await server.upload(packed(described(), rawMember({ name: 'home/a' }, 'x')))).status).toBe(500)
  expect(await server.audit('file.upload')).toEqual([])
  expect(await server.everything()).toEqual(before)
})

test('a client that goes away while it sends leaves nothing', async () => {
  await using server = await startArchives()
  const before = await server.everything()
  const sending = httpRequest(`${server.api}/workspaces/import`, {
    method: 'POST',
    headers: {
      ...server.authorization,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': '1000000',
    },
  }).on('error', () => undefined)
  sending.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc')
  const waiting = async () => (await readdir(join(server.folder, 'imports'))).length
  await expect.poll(waiting).toBe(1)
  sending.destroy()
  await expect.poll(waiting).toBe(0)
  expect(await server.everything()).toEqual(before)
})

test('a home that does not fit beside the reserve is refused', async () => {
  await using server = await startArchives({ freeBytes: 2 * 1024 * MB + 5000 })
  const before = await server.everything()
  expect((await server.upload(packed(described(), rawMember({ name: 'home/a' }, 'x'.repeat(5000))))).status).toBe(413)
  expect(await server.everything()).toEqual(before)
})

test('an archive that takes longer than five minutes to unpack is refused, and leaves nothing', async () => {
  await using server = await startArchives()
  const before = await server.everything()
  const { homes, clock } = server
  const plain = homes.writer.bind(homes)
  homes.writer = (id) => {
    const writer = plain(id)
    const slowly = writer.directory.bind(writer)
    writer.directory = async (name, mode) => {
      await slowly(name, mode)
      clock.advance(300_000)
    }
    return writer
  }
  const large = randomBytes(MB).toString('latin1')
  const archive = packed(described(), rawMember({ type: '5', name: 'home/d' }), rawMember({ name: 'home/a' }, large))
  const detail = 'The archive takes longer than 300 s to unpack'
  expect(await server.upload(archive)).toEqual({ status: 400, json: expect.objectContaining({ detail }) })
  expect(await server.everything()).toEqual(before)
})

test('one archive at a time is unpacked, each into the space that the others left', async () => {
  await using server = await startArchives()
  const { homes } = server
  const plain = homes.writer.bind(homes)
  let unpacking = 0
  let most = 0
  homes.writer = (id) => {
    const writer = plain(id)
    most = Math.max(most, ++unpacking)
    const finish = writer.finish.bind(writer)
    writer.finish = async () => {
      await finish()
      unpacking--
    }
    return writer
  }
  const archive = packed(described(), rawMember({ name: 'home/a' }, 'x'.repeat(MB)))
  const answers = await Promise.all(['one', 'two', 'three'].map((name) => server.upload(archive, { name })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(most).toBe(1)
})

test('what an interrupted import left is removed at the next start, and what is in use stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-archives-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const unknown = randomUUID()
  let known = ''
  {
    await using server = await startArchives({ folder })
    known = await server.create({})
    for (const id of [known, unknown]) {
      await server.homes.ensure(id)
      await writeFile(join(folder, 'imports', `${id}.tar.gz`), 'x')
    }
    await writeFile(join(folder, 'imports', 'odd.tar.gz'), 'x')
  }
  await using _again = await startArchives({ folder })
  expect(await readdir(join(folder, 'imports'))).toEqual([])
  expect((await readdir(join(folder, 'workspaces'))).filter((name) => name !== '.removed')).toEqual([known])
})
