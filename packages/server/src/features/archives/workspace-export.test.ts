import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { INSTANCE, startArchives } from '../../testing/start-archives.ts'
import { WorkspaceStore } from '../workspaces/workspace-store.ts'
import { Workspaces } from '../workspaces/workspaces.ts'
import { WorkspaceExport } from './workspace-export.ts'

const run = promisify(execFile)

test('an exported workspace comes back with its configuration and its home', async () => {
  await using server = await startArchives({ env: { SVCD_ALLOW_AUTOSTART: 'true' } })
  const original = await server.create({
    name: 'größe "1"',
    image: 'good:1',
    service_command: 'serve',
    auto_start: true,
    health_check: { command: 'true', interval: 3 },
    mounts: ['data:/data'],
    env: { A: 'b' },
    allowed_domains: ['example.com:443'],
    rejected_domains: ['evil.example'],
    settings: { idle_timeout: 60, memory_limit: '1g' },
    egress_mode: 'static',
    per_handle_home: true,
    classification_banner: 'SECRET',
  })
  await server.homes.ensure(original)
  const home = server.homes.pathOf(original)
  await mkdir(join(home, 'svc', 'a'.repeat(120), 'é'.repeat(60)), { recursive: true })
  await writeFile(join(home, 'svc', 'a'.repeat(120), 'é'.repeat(60), 'deep'), 'deep')
  await writeFile(join(home, 'svc', 'big'), Buffer.alloc(300_000, 7))
  await writeFile(join(home, 'svc', 'run'), '#!')
  await chmod(join(home, 'svc', 'run'), 0o4755)
  await writeFile(join(home, 'svc', 'empty'), '')
  await symlink('../../etc/passwd', join(home, 'svc', 'link'))
  await mkdir(join(home, 'empty dir'))

  const answer = await server.download(original)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/gzip')
  expect(answer.headers.get('content-length')).toBeNull()
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="gr__e _1_.tar.gz"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.tar.gz`,
  )
  const estimate = Number(answer.headers.get('x-estimated-size'))
  expect(estimate).toBeGreaterThan(60_000)
  const archive = Buffer.from(await answer.arrayBuffer())
  expect(await server.audit('file.download')).toEqual([{ path: 'größe "1".tar.gz', size: estimate }])

  const { status, json } = await server.upload(archive, { name: 'again', fileName: 'größe.tar.gz' })
  expect({ status, json }).toMatchObject({ status: 200 })
  expect(json).toMatchObject({
    name: 'again',
    user_id: server.admin.id,
    image: 'good:1',
    service_command: 'serve',
    auto_start: true,
    setup_state: 'complete',
    health_check: { command: 'true', interval: 3 },
    mounts: ['data:/data'],
    env: { A: 'b' },
    allowed_domains: ['example.com:443'],
    rejected_domains: ['evil.example'],
    settings: { idle_timeout: 60, memory_limit: '1g' },
    egress_mode: 'static',
    per_handle_home: true,
    classification_banner: 'SECRET',
  })
  expect(json.id).not.toBe(original)
  expect(await server.audit('workspace.create')).toContainEqual({ name: 'again', via: 'import' })
  expect(await server.audit('file.upload')).toEqual([{ path: 'größe.tar.gz', size: archive.length }])
  const copy = server.homes.pathOf(String(json.id))
  await run('diff', ['-r', '--no-dereference', home, copy])
  expect(await readlink(join(copy, 'svc', 'link'))).toBe('../../etc/passwd')
  expect((await stat(join(copy, 'svc', 'run'))).mode & 0o7777).toBe(0o755)
  expect(await readdir(join(server.folder, 'imports'))).toEqual([])
})

test('an archive begins with the description, and GNU tar reads it', async () => {
  await using server = await startArchives()
  const id = await server.create({ name: 'plain' })
  await server.homes.ensure(id)
  await writeFile(join(server.homes.pathOf(id), 'file'), 'x')
  const answer = await server.download(id)
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="plain.tar.gz"')
  await writeFile(join(server.folder, 'out.tar'), gunzipSync(await answer.arrayBuffer()))
  const { stdout } = await run('tar', ['-tf', join(server.folder, 'out.tar')])
  expect(stdout.trim().split('\n')).toEqual(['workspace.json', 'home/', 'home/file'])
  const json = await run('tar', ['-xOf', join(server.folder, 'out.tar'), 'workspace.json'])
  expect(Object.keys(JSON.parse(json.stdout)).toSorted()).toEqual(
    [
      ...['format', 'name', 'instance_id', 'image', 'service_command', 'auto_start', 'mounts', 'env', 'health_check'],
      ...['allowed_domains', 'rejected_domains', 'settings', 'num_ports', 'egress_mode', 'per_handle_home'],
      'classification_banner',
    ].toSorted(),
  )
})

test('what nobody could pack is left out, and named at the end', async () => {
  await using server = await startArchives()
  const id = await server.create({ name: 'plain' })
  await server.homes.ensure(id)
  const home = server.homes.pathOf(id)
  await mkdir(join(home, 'd/'.repeat(700)), { recursive: true })
  await run('truncate', ['-s', '1T', join(home, 'sparse')])
  await writeFile(join(home, 'file'), 'x')
  const file = join(server.folder, 'out.tar')
  await writeFile(file, gunzipSync(await (await server.download(id)).arrayBuffer()))
  const names = (await run('tar', ['-tf', file])).stdout.trim().split('\n')
  expect(names).toContain('home/file')
  expect(names).not.toContain('home/sparse')
  expect(names.at(-1)).toBe('left-out.txt')
  const { stdout } = await run('tar', ['-xOf', file, 'left-out.txt'])
  expect(stdout.trim().split('\n').toSorted()).toEqual([
    `"${'d/'.repeat(100)}"…: it lies more than 512 levels deep`,
    '"sparse": it is mostly holes',
  ])
})

test('an archive from which something was left out can be taken in again', async () => {
  await using server = await startArchives()
  const id = await server.create({ name: 'plain' })
  await server.homes.ensure(id)
  await run('truncate', ['-s', '1T', join(server.homes.pathOf(id), 'sparse')])
  await writeFile(join(server.homes.pathOf(id), 'file'), 'x')
  const archive = Buffer.from(await (await server.download(id)).arrayBuffer())
  expect(gunzipSync(archive).includes('left-out.txt')).toBe(true)
  const { status, json } = await server.upload(archive, { name: 'again' })
  expect({ status, json }).toMatchObject({ status: 200 })
  expect(await readdir(server.homes.pathOf(String(json.id)))).toEqual(['file'])
})

test('a workspace that never ran has an empty home; one that is not there is nobody’s to export', async () => {
  await using server = await startArchives()
  const id = await server.create({})
  const answer = await server.download(id)
  expect(answer.headers.get('x-estimated-size')).toBe('1')
  expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0)
  expect((await server.download(randomUUID())).status).toBe(403)
})

test('asking for the headers alone reads nothing and is no download', async () => {
  await using server = await startArchives()
  const id = await server.create({})
  const answer = await server.download(id, 'HEAD')
  expect([answer.status, answer.headers.get('x-estimated-size')]).toEqual([200, '1'])
  expect(await server.audit('file.download')).toEqual([])
})

test('a home that takes long to measure is estimated by what was counted in ten seconds', async () => {
  await using server = await startArchives()
  const id = await server.create({})
  const measuring = Promise.withResolvers<void>()
  server.homes.measure = async (_id, signal) => {
    measuring.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return 5000
  }
  const answer = server.download(id, 'HEAD')
  await measuring.promise
  server.clock.advance(10_000)
  expect((await answer).headers.get('x-estimated-size')).toBe('1000')
})

test('an export that fails in the middle is broken off, never ended well', async () => {
  await using server = await startArchives()
  const id = await server.create({})
  server.homes.walk = async function* () {
    yield { kind: 'directory', name: 'd', mode: 0o755, modifiedAt: 0 }
    for (let number = 0; number < 100; number++) {
      const name = `${number}-${randomUUID().repeat(7)}`
      yield { kind: 'link', name, target: randomUUID().repeat(100), modifiedAt: 0 }
    }
    throw new Error('the disk went away')
  }
  const broken = new Promise<string>((resolve) => {
    get(`${server.api}/workspaces/${id}/export`, { headers: server.authorization }, (answer) => {
      text(answer).then(
        () => resolve('ended well'),
        (error) => resolve(error.code),
      )
    }).on('error', (error) => resolve(String(error)))
  })
  expect(await broken).toBe('ECONNRESET')
  expect(server.log.records.some(({ message }) => message === 'a workspace could not be packed')).toBe(true)
})

test('a client that stops reading stops the files from being read, and one that leaves frees them', async () => {
  await using server = await startArchives()
  const id = await server.create({})
  let begun = 0
  let ended = false
  server.homes.walk = async function* () {
    try {
      for (; begun < 10_000; begun++) {
        const target = Array.from({ length: 100 }, () => randomUUID()).join('')
        yield { kind: 'link', name: `${begun}`, target, modifiedAt: 0 }
      }
    } finally {
      ended = true
    }
  }
  const answer = await new Promise<IncomingMessage>((resolve) => {
    get(`${server.api}/workspaces/${id}/export`, { headers: server.authorization }, resolve)
  })
  let before = -1
  await expect
    .poll(
      () => {
        const still = begun === before
        before = begun
        return still
      },
      { interval: 100, timeout: 5000 },
    )
    .toBe(true)
  expect(begun).toBeLessThan(10_000)
  expect(ended).toBe(false)
  answer.destroy()
  await expect.poll(() => ended).toBe(true)
})

describe('a workspace kept as a file', () => {
  async function open() {
    const server = await startArchives()
    const id = await server.create({ name: 'kept' })
    const { storage, homes, clock, log, app } = server
    const workspaces = new Workspaces({ storage, store: new WorkspaceStore() })
    const audit = app.audit
    const exports = new WorkspaceExport({ storage, workspaces, homes, audit, instanceId: INSTANCE, clock, log })
    const ended = new AbortController()
    const description = exports.describe(await workspaces.require(id))
    const order = { workspaceId: id, description, signal: ended.signal }
    const folder = join(server.folder, 'archives')
    return { server, homes, exports, order, ended, folder, file: join(folder, `${id}.tar.gz`) }
  }

  test('can be read only by us, and taken in again', async () => {
    const { server, exports, order, folder, file } = await open()
    await using _ = server
    await exports.archiveTo(file, order)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual([basename(file)])
    expect((await server.upload(await readFile(file), { name: 'back' })).status).toBe(200)
  })

  test('leaves nothing when it fails', async () => {
    const { server, homes, exports, order, folder, file } = await open()
    await using _ = server
    homes.walk = async function* () {
      yield* []
      throw new Error('the disk went away')
    }
    await expect(exports.archiveTo(file, order)).rejects.toThrow('went away')
    expect(await readdir(folder)).toEqual([])
  })

  test('leaves nothing when it is broken off', async () => {
    const { server, homes, exports, order, ended, folder, file } = await open()
    await using _ = server
    homes.walk = async function* () {
      for (let number = 0; ; number++) {
        if (number === 1000) ended.abort()
        yield { kind: 'link', name: `${number}`, target: randomUUID().repeat(100), modifiedAt: 0 }
      }
    }
    await expect(exports.archiveTo(file, order)).rejects.toThrow('aborted')
    expect(await readdir(folder)).toEqual([])
  })

  test('is kept at the next start, and half a one that a killed server left is not', async () => {
    const { server, exports, order, folder, file } = await open()
    await using _ = server
    await exports.begin(folder)
    await exports.archiveTo(file, order)
    await writeFile(`${file}.${randomUUID()}.part`, 'half')
    await exports.begin(folder)
    expect(await readdir(folder)).toEqual([basename(file)])
  })
})
