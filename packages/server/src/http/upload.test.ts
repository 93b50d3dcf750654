import { connect } from 'node:net'
import { afterAll, afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { AppError } from '../kernel/app-error.ts'
import { route } from '../kernel/route.ts'
import { startHttp } from '../testing/start-http.ts'
import type { Guard } from './guard.ts'
import { openApiDocument } from './openapi.ts'

const MB = 1024 * 1024

/** Counts what it is sent, and refuses files over 3 MB. */
function counting() {
  const seen = { started: 0, ended: 0 }
  const row = route({
    method: 'POST',
    path: '/take',
    tag: 'Test',
    summary: 'Take a file',
    needs: 'anyone',
    upload: { file: { field: 'file', description: 'Anything' }, fields: { name: 'What to call it' } },
    reply: z.object({
      bytes: z.number(),
      name: z.string(),
      fields: z.record(z.string(), z.string()),
    }),
    async handle({ upload }) {
      const form = await upload.receiveForm('file', async ({ name, content }) => {
        seen.started++
        try {
          let bytes = 0
          for await (const chunk of content) {
            bytes += chunk.length
            if (bytes > 3 * MB) throw new AppError('archive_too_large', 'Too large')
          }
          return { bytes, name }
        } finally {
          seen.ended++
        }
      })
      return { ...form.file, fields: Object.fromEntries(form.fields) }
    },
  })
  return { row, seen }
}

const { row, seen } = counting()
const server = await startHttp({ routes: [row] })
afterEach(() => expect(seen.started).toBe(seen.ended))
afterAll(() => server[Symbol.asyncDispose]())

const send = (body: FormData | string, headers?: Record<string, string>) =>
  fetch(`${server.url}/api/v1/take`, { method: 'POST', body, ...(headers ? { headers } : {}) })

function form(parts: Record<string, string | Blob>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, value, 'größe.bin')
  }
  return data
}

test('a file arrives with the fields before and after it', async () => {
  const answer = await send(form({ before: 'a', file: new Blob([new Uint8Array(2 * MB)]), after: 'ü' }))
  expect(await answer.json()).toEqual({ bytes: 2 * MB, name: 'größe.bin', fields: { before: 'a', after: 'ü' } })
})

test('an empty file is a file', async () => {
  expect(await (await send(form({ file: new Blob([]) }))).json()).toMatchObject({ bytes: 0 })
})

test.each([{ name: 'x' }, { other: new Blob(['abc']) }])(
  'a form without the file in its field is refused',
  async (parts) => {
    const answer = await send(form(parts))
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({
      code: 'invalid_request',
      detail: [{ type: 'missing', loc: ['body', 'file'], msg: 'Field required', input: null }],
    })
  },
)

test.each(['application/json', 'text/plain', ''])('a body of the type "%s" is refused', async (type) => {
  expect((await send('{}', { 'content-type': type })).status).toBe(415)
})

test.each<[string, string, Record<string, string>]>([
  ['a form without a boundary', 'abc', { 'content-type': 'multipart/form-data' }],
  ['no part at all', 'abc', { 'content-type': 'multipart/form-data; boundary=x' }],
  [
    'a file without an end',
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    { 'content-type': 'multipart/form-data; boundary=x' },
  ],
])('%s is refused', async (_, body, headers) => {
  const answer = await send(body, headers)
  expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'bad_request' })])
})

test('a client that is still sending sees why its file is refused', async () => {
  const answer = await send(form({ file: new Blob([new Uint8Array(30 * MB)]) }))
  expect([answer.status, await answer.json()]).toEqual([413, expect.objectContaining({ detail: 'Too large' })])
})

test('a caller who may not is refused without the file being read', async () => {
  const guard: Guard = {
    identify: async () => {
      throw new AppError('not_authenticated', 'Not authenticated')
    },
    authorize: async () => undefined,
  }
  await using closed = await startHttp({ routes: [{ ...row, needs: 'signed in' }], guard })
  const answer = await fetch(`${closed.url}/api/v1/take`, {
    method: 'POST',
    body: form({ file: new Blob([new Uint8Array(10 * MB)]) }),
  })
  expect(answer.status).toBe(401)
})

test('whoever goes on sending after a refusal is cut off', async () => {
  const before = seen.started
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    'POST /api/v1/take HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n' +
      'content-type: multipart/form-data; boundary=x\r\n\r\n',
  )
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
  socket.write(chunk('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'))
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  const block = chunk('a'.repeat(MB))
  let sent = 0
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const more = () => {
    while (!socket.destroyed && sent < 1000 * MB && socket.write(block)) sent += MB
  }
  socket.on('drain', more)
  more()
  await closed
  expect(answer).toMatch(/^HTTP\/1.1 413 /)
  expect(sent).toBeLessThan(500 * MB)
  expect(seen.started).toBe(before + 1)
})

test('a client that goes away in the middle leaves nobody waiting', async () => {
  const before = seen.started
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write(
    'POST /api/v1/take HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n' +
      'content-type: multipart/form-data; boundary=x\r\n\r\n' +
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
  )
  await expect.poll(() => seen.started).toBe(before + 1)
  socket.destroy()
  await expect.poll(() => seen.ended).toBe(before + 1)
})

test('the API reference shows the form', () => {
  const document = JSON.stringify(openApiDocument([row], { title: 'x', version: '1' }))
  expect(document).toContain('"multipart/form-data":{"schema":{"type":"object","required":["file"]')
  expect(document).toContain('What to call it')
})
