import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type FilesServer, startFiles } from '../../testing/start-files.ts'

const MB = 1024 * 1024

let server: FilesServer
beforeAll(async () => {
  server = await startFiles()
})
afterAll(() => server[Symbol.asyncDispose]())
/** Whatever was asked, and however it ended: nothing goes on in the workspace. */
afterEach(() => expect.poll(() => server.calls()).toBe(0))

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const download = (path: string, method = 'GET') => server.call({ method, at: '/download', path })

/** A download of which the test decides when it is read. */
async function begin(path: string, agent: Agent | false = false): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${server.admin.token}` }
  const asked = request(server.address('/download', path), { headers, agent }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  return response
}

const openFiles = (folder: string) => server.sh(`ls -l /proc/*/fd 2>/dev/null | grep -c ${folder}/ || true`)

test.each([0, 1, 65_536, 65_537, 5 * MB])('a file of %i bytes comes as it is, with its length', async (size) => {
  const folder = await server.prepare(`head -c ${size} /dev/urandom > file.bin`)
  const sum = await server.sh(`sha256sum < ${folder}/file.bin | cut -c1-64`)
  const response = await download(`${folder}/file.bin`)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': String(size),
    'content-disposition': 'attachment; filename="file.bin"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  expect(digest(await response.bytes())).toBe(sum)
})

test.each([
  ['is said to be empty', '/proc/self/status', 'Name:'],
  ['is said to be a page long', '/sys/kernel/mm/transparent_hugepage/enabled', 'never'],
])('what the system makes up and %s comes with its true length', async (_, path, part) => {
  const response = await download(path)
  if (response.status === 404) return // not on this machine
  const bytes = await response.bytes()
  expect(Buffer.from(bytes).toString()).toContain(part)
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
})

test('a directory comes as an archive with names relative to it, without what may not be read', async () => {
  const folder = await server.prepare(
    'mkdir -p in/sub && head -c 3000000 /dev/urandom > in/sub/large && ln -s sub in/link && touch in/shut && chmod 0 in/shut',
  )
  const response = await download(`${folder}/in`)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/gzip',
    'content-disposition': 'attachment; filename="in.tar.gz"',
  })
  expect(response.headers.has('content-length')).toBe(false)
  const out = mkdtempSync(join(tmpdir(), 'svc-out-'))
  onTestFinished(() => rmSync(out, { recursive: true }))
  execFileSync('tar', ['xzf', '-', '-C', out], { input: await response.bytes() })
  expect(readdirSync(out).toSorted()).toEqual(['link', 'sub'])
  expect(readlinkSync(join(out, 'link'))).toBe('sub')
  const sum = await server.sh(`sha256sum < ${folder}/in/sub/large | cut -c1-64`)
  expect(digest(readFileSync(join(out, 'sub/large')))).toBe(sum)
})

test('an empty directory is an archive of nothing, and a link leads to its directory', async () => {
  const folder = await server.prepare('mkdir in && ln -s in to')
  const response = await download(`${folder}/to`)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="to.tar.gz"')
  expect(execFileSync('tar', ['tzf', '-'], { input: await response.bytes() }).toString()).toBe('')
})

test('HEAD answers the headers alone, and writes no row', async () => {
  const folder = await server.prepare('head -c 100000 /dev/zero > file && printf abc > small')
  const rows = (await server.audit('file.download')).length
  const headers = async (path: string, method: string) => {
    const response = await download(path, method)
    const names = ['content-type', 'content-length', 'content-disposition', 'cache-control']
    const length = (await response.bytes()).length
    return { headers: names.map((name) => response.headers.get(name)), length: method === 'HEAD' ? length : 0 }
  }
  const heads = []
  for (const name of ['file', 'small', '']) heads.push(await headers(`${folder}/${name}`, 'HEAD'))
  expect((await download(`${folder}/none`, 'HEAD')).status).toBe(404)
  expect(await server.audit('file.download')).toHaveLength(rows)
  for (const [n, name] of ['file', 'small', ''].entries()) {
    expect(heads[n]).toEqual(await headers(`${folder}/${name}`, 'GET'))
  }
  expect(heads.map(({ headers }) => headers[1])).toEqual(['100000', '3', null])
})

test.each([
  ['what is not there', 'none', 404, 'not_found'],
  ['something below a file', 'file/x', 404, 'not_found'],
  ['what may not be read', 'shut', 403, 'file_permission_denied'],
  ['a directory that may not be read', 'room', 403, 'file_permission_denied'],
  ['a named pipe', 'pipe', 400, 'bad_request'],
])('%s is refused', async (_, name, status, code) => {
  const folder = await server.prepare('touch file shut && mkdir room && chmod 0 shut room && mkfifo pipe')
  const answer = await server.answer({ at: '/download', path: `${folder}/${name}` })
  expect(answer).toMatchObject({ status, json: { code } })
  expect((await server.answer({ at: '/download', path: 'x' })).status).toBe(400)
  await server.sh(`chmod 700 ${folder}/room`)
})

test('a name that would lead a header astray does not', async () => {
  const folder = await server.prepare()
  const name = 'a"; filename="b\r\nset-cookie: c=d; 名'
  await server.upload('x', `${folder}/${name}`)
  const response = await download(`${folder}/${name}`)
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="a_; filename=_b__set-cookie: c=d; _"; filename\*=UTF-8''a%22%3B/,
  )
  expect(response.headers.has('set-cookie')).toBe(false)
})

test('a file that is cut while it is read breaks off, and nobody takes it for whole', async () => {
  const folder = await server.prepare('head -c 50000000 /dev/zero > file')
  // On a connection that would be used again: there nothing but the length tells where a file ends.
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const response = await begin(`${folder}/file`, agent)
  response.pause()
  await server.sh(`truncate -s 1000 ${folder}/file`)
  await expect(buffer(response)).rejects.toThrow('aborted')
})

test('a client that goes away ends the work in the workspace', async () => {
  const folder = await server.prepare('head -c 50000000 /dev/urandom > file')
  for (const path of [`${folder}/file`, folder]) {
    const response = await begin(path)
    await once(response, 'readable')
    expect(server.calls()).toBe(1)
    expect(await openFiles(folder)).toBe('1')
    response.destroy()
    await expect.poll(() => server.calls()).toBe(0)
    await expect.poll(() => openFiles(folder)).toBe('0')
  }
})

test('a client that reads slowly holds up nobody, and gets everything', async () => {
  const folder = await server.prepare('head -c 30000000 /dev/urandom > file && printf small > small')
  const sum = await server.sh(`sha256sum < ${folder}/file | cut -c1-64`)
  const slow = await begin(`${folder}/file`)
  slow.pause()
  const others = Array.from({ length: 8 }, async () => {
    expect(digest(await (await download(`${folder}/file`)).bytes())).toBe(sum)
    expect((await server.answer({ path: folder })).status).toBe(200)
    expect((await server.upload('x', `${folder}/small`)).status).toBe(200)
  })
  await Promise.all(others)
  expect(await server.sh('echo a terminal would go on')).toBe('a terminal would go on')
  expect(digest(await buffer(slow))).toBe(sum)
})

test('a client that reads nothing any more is let go, and the workspace counts as unused meanwhile', async () => {
  const folder = await server.prepare('head -c 50000000 /dev/zero > file')
  const response = await begin(`${folder}/file`)
  await once(response, 'readable')
  response.read(1)
  const idleAfterAMinute = () => {
    server.clock.advance(60_000)
    return server.idleSeconds()
  }
  // Until everything in between is full.
  await expect.poll(idleAfterAMinute).toBeGreaterThan(60)
  server.clock.advance(10 * 60_000)
  await expect.poll(() => server.calls()).toBe(0)
  await expect(buffer(response)).rejects.toThrow('aborted')
})

test('while bytes go out, the workspace is in use', async () => {
  const folder = await server.prepare('head -c 20000000 /dev/zero > file')
  const response = await begin(`${folder}/file`)
  let isUsed = false
  for await (const _ of response) {
    server.clock.advance(1000)
    isUsed = true
  }
  expect(isUsed).toBe(true)
  expect(Number(await server.idleSeconds())).toBeLessThan(200)
})

test('a workspace that stops ends its transfers, and is not running then', async () => {
  const id = await server.workspace('other')
  const at = (rest: string) => `http://127.0.0.1:${server.port}/api/v1/workspaces/${id}/files${rest}`
  const headers = { authorization: `Bearer ${server.admin.token}` }
  const running = server.app.lifecycle.requireRunning(id)
  const exec = running.agent.exec({
    argv: ['sh', '-c', 'head -c 50000000 /dev/zero > /home/svc/file'],
    login: false,
    cwd: '/',
    env: {},
  })
  await exec.exited
  const asked = request(at('/download?path=/home/svc/file'), { headers, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.pause()
  await server.admin.post(`/workspaces/${id}/stop`)
  await expect(buffer(response)).rejects.toThrow('aborted')
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/content?path=/home'],
    ['GET', '/download?path=/home'],
    ['DELETE', '?path=/home/svc/file'],
  ] as const) {
    const answer = await fetch(at(rest), { method, headers })
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      { code: 'container_not_running', detail: 'Container not running' },
    ])
  }
})
