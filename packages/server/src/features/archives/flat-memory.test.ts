import { createReadStream, createWriteStream } from 'node:fs'
import { stat, truncate, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { startArchives } from '../../testing/start-archives.ts'

const MB = 1024 * 1024

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

/** Sends a form as it is read from a file. */
async function sendFile(url: string, file: string, authorization: Record<string, string>): Promise<IncomingMessage> {
  const sent = Promise.withResolvers<IncomingMessage>()
  const headers = { ...authorization, 'content-type': 'multipart/form-data; boundary=x' }
  const sending = httpRequest(url, { method: 'POST', headers }, sent.resolve).on('error', sent.reject)
  await pipeline(async function* () {
    yield '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    yield* createReadStream(file)
    yield '\r\n--x--\r\n'
  }, sending)
  return sent.promise
}

const LARGE_MB = 256
/** Above what the collector leaves lying about for a while, below what anything whole would take. */
const GROWTH_MB = 0.6 * LARGE_MB

test('a large home goes out and comes in again without ever being in memory', { timeout: 60_000 }, async () => {
  await using server = await startArchives()
  const id = await server.create({})
  await server.homes.ensure(id)
  await writeFile(join(server.homes.pathOf(id), 'large'), '')
  await truncate(join(server.homes.pathOf(id), 'large'), LARGE_MB * MB)
  const archive = join(server.folder, 'large.tar.gz')
  const growth = await growthMb(async () => {
    const { body } = await server.download(id)
    if (body) await pipeline(body, createWriteStream(archive))
    const answer = await sendFile(`${server.api}/workspaces/import?name=large`, archive, server.authorization)
    const { id: copy } = JSON.parse(await text(answer))
    expect((await stat(join(server.homes.pathOf(copy), 'large'))).size).toBe(LARGE_MB * MB)
  })
  expect(growth).toBeLessThan(GROWTH_MB)
})

test('a large upload is never in memory', { timeout: 60_000 }, async () => {
  await using server = await startArchives()
  const junk = join(server.folder, 'junk')
  await writeFile(junk, '')
  await truncate(junk, LARGE_MB * MB)
  const growth = await growthMb(async () => {
    const answer = await sendFile(`${server.api}/workspaces/import`, junk, server.authorization)
    expect([answer.statusCode, await text(answer)]).toEqual([400, expect.stringContaining('gzip')])
  })
  expect(growth).toBeLessThan(GROWTH_MB)
})
