import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type FilesServer, startFiles } from '../../testing/start-files.ts'

const MB = 1024 * 1024
const LARGE_MB = 64

let server: FilesServer
beforeAll(async () => {
  server = await startFiles({ env: { SVCD_FILE_UPLOAD_SIZE_MAX: String(LARGE_MB * MB) } })
})
afterAll(() => server[Symbol.asyncDispose]())
/** Whatever was asked, and however it ended: nothing goes on in the workspace. */
afterEach(() => expect.poll(() => server.calls()).toBe(0))

const HEAD = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
const TAIL = '\r\n--x--\r\n'

/** An upload that the test sends by itself. */
function begin(path: string, headers: Record<string, string> = {}) {
  const answered = Promise.withResolvers<IncomingMessage>()
  answered.promise.catch(() => {})
  const sending = httpRequest(
    server.address('/upload', path),
    {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${server.admin.token}`,
        'content-type': 'multipart/form-data; boundary=x',
        ...headers,
      },
    },
    answered.resolve,
  ).on('error', answered.reject)
  return { sending, answered: answered.promise }
}

const namesIn = (folder: string) => server.sh(`cd ${folder} && find . -mindepth 1 | sort | tr '\\n' ' '`)

test('a client that goes away in the middle leaves the file as it was, and no directories', async () => {
  const folder = await server.prepare('printf old > file')
  for (const path of [`${folder}/file`, `${folder}/new/parents/file`]) {
    const { sending } = begin(path)
    sending.write(HEAD)
    sending.write(Buffer.alloc(MB))
    await expect.poll(() => server.calls()).toBe(1)
    await expect.poll(() => server.sh(`find ${folder} -name '.svc-upload-*' -size +0 | wc -l`)).toBe('1')
    sending.destroy()
    await expect.poll(() => server.calls()).toBe(0)
    await expect.poll(() => namesIn(folder)).toBe('./file')
  }
  expect(await server.sh(`cat ${folder}/file`)).toBe('old')
})

test.each([
  ['without its last line', HEAD, 'content', '\r\n--x'],
  ['with a broken part behind the file', HEAD, 'content', '\r\n--x\r\ncontent-disposition: form-data; name="b"'],
  ['that ends in the file', HEAD, 'content', ''],
])('a form %s leaves the file as it was', async (_, ...parts) => {
  const folder = await server.prepare('printf old > file')
  const { sending, answered } = begin(`${folder}/file`)
  sending.end(parts.join(''))
  const answer = await answered
  expect([answer.statusCode, await json(answer)]).toMatchObject([400, { code: 'bad_request' }])
  await expect.poll(() => namesIn(folder)).toBe('./file')
  expect(await server.sh(`cat ${folder}/file`)).toBe('old')
})

test('a file that cannot take its place is not acknowledged, leaves nothing, and the trail says so', async () => {
  const folder = await server.prepare('mkdir dir')
  const path = `${folder}/dir/file`
  const { sending, answered } = begin(path)
  sending.write(`${HEAD}content\r\n--x\r\ncontent-disposition: form-data; name="b"\r\n\r\n`)
  await expect.poll(() => server.sh(`find ${folder} -name '.svc-upload-*' -size +0 | wc -l`)).toBe('1')
  await server.sh(`mv ${folder}/dir ${folder}/moved`)
  sending.end(TAIL)
  expect((await answered).statusCode).toBe(404)
  const rows = [
    { path, size: 7 },
    { path, size: 7, incomplete: true },
  ]
  expect((await server.audit('file.write')).slice(-2)).toEqual(rows)
  await expect.poll(() => namesIn(folder)).toBe('./moved')
})

test('an upload that says it is too large is refused before any of it is sent', async () => {
  const folder = await server.prepare()
  const { sending, answered } = begin(`${folder}/file`, { 'content-length': String(LARGE_MB * MB + 2 * MB) })
  sending.flushHeaders()
  const answer = await answered
  expect([answer.statusCode, await json(answer)]).toMatchObject([413, { detail: `File exceeds ${LARGE_MB} MB limit` }])
  sending.destroy()
  expect(await namesIn(folder)).toBe('')
})

test('an upload to a workspace that stops is answered, and not taken for complete', async () => {
  const id = await server.workspace('other')
  const address = server.address('/upload', '/home/svc/file').replace(server.id, id)
  const headers = {
    authorization: `Bearer ${server.admin.token}`,
    'content-type': 'multipart/form-data; boundary=x',
  }
  const sending = httpRequest(address, { method: 'POST', headers, agent: false })
  const answered = once(sending, 'response')
  sending.write(`${HEAD}some`)
  await expect.poll(() => server.app.lifecycle.requireRunning(id).agent.callCount).toBe(1)
  await server.admin.post(`/workspaces/${id}/stop`)
  const [answer] = (await answered) as [IncomingMessage]
  expect([answer.statusCode, await json(answer)]).toMatchObject([409, { code: 'container_not_running' }])
  sending.destroy()
})

test('while bytes come in, the workspace is in use', async () => {
  const folder = await server.prepare()
  const { sending, answered } = begin(`${folder}/file`)
  sending.write(`${HEAD}some`)
  await expect.poll(() => server.calls()).toBe(1)
  await expect.poll(() => server.sh(`find ${folder} -name '.svc-upload-*' -size +0 | wc -l`)).toBe('1')
  server.clock.advance(60_000)
  expect(await server.idleSeconds()).toBe(60)
  sending.write(Buffer.alloc(MB))
  await expect.poll(() => server.idleSeconds()).toBe(0)
  sending.end(TAIL)
  expect((await answered).statusCode).toBe(200)
})

test('many at once do not mix', async () => {
  const folder = await server.prepare()
  const texts = Array.from({ length: 12 }, (_, n) => `${n} `.repeat(200_000))
  await Promise.all(texts.map((text, n) => server.upload(text, `${folder}/${n}`)))
  for (const [n, text] of texts.entries()) {
    const response = await server.call({ at: '/download', path: `${folder}/${n}` })
    expect((await response.text()) === text).toBe(true)
  }
})

/** How far the memory of this process grew while `work` was done, at the highest. */
async function growthMb(work: () => Promise<void>): Promise<number> {
  const beforeBytes = process.memoryUsage.rss()
  let peakBytes = beforeBytes
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, 10)
  await work().finally(() => clearInterval(watch))
  return (peakBytes - beforeBytes) / MB
}

test('a large file comes and goes without ever being in memory', async () => {
  const source = await mkdtemp(join(tmpdir(), 'svc-large-'))
  onTestFinished(() => rm(source, { recursive: true }))
  await writeFile(join(source, 'large'), '')
  await truncate(join(source, 'large'), LARGE_MB * MB)
  const path = `${await server.prepare()}/large`
  const growth = await growthMb(async () => {
    const { sending, answered } = begin(path)
    await pipeline(async function* () {
      yield HEAD
      yield* createReadStream(join(source, 'large'))
      yield TAIL
    }, sending)
    expect((await answered).statusCode).toBe(200)
    const { body } = await server.call({ at: '/download', path })
    let bytes = 0
    for await (const chunk of body ?? []) bytes += chunk.length
    expect(bytes).toBe(LARGE_MB * MB)
  })
  // Above what the collector leaves lying about for a while, below what anything whole would take.
  expect(growth).toBeLessThan(0.75 * LARGE_MB)
})
