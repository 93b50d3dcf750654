import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { described } from '../../testing/start-archives.ts'
import { packed, rawMember } from '../../testing/tar-blocks.ts'
import { listArchive } from './list-archive.ts'
import { UnpackBudget } from './unpack-budget.ts'

let archive = ''
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-list-'))
  archive = join(folder, 'archive.tar.gz')
  const members = Array.from({ length: 100 }, (_, number) => rawMember({ name: `home/${number}` }, 'x'.repeat(600)))
  await writeFile(archive, packed(described(), ...members))
  return () => rm(folder, { recursive: true })
})
afterAll(() => expect(clock.pending).toBe(0))

/** Knows whether anybody left a timer. */
class CountingClock extends FakeClock {
  pending = 0

  override after(delayMs: number, work: () => void): () => void {
    this.pending++
    const cancel = super.after(delayMs, work)
    return () => {
      this.pending--
      cancel()
    }
  }
}

const clock = new CountingClock()
const limits = { freeBytes: 1e12, maxMb: undefined }

test('the description of an archive is found, and all of it was read', async () => {
  const description = await listArchive(archive, new UnpackBudget(limits), clock)
  expect(JSON.parse(description.toString())).toMatchObject({ name: 'from archive' })
})

test('reading for longer than half a minute ends it', async () => {
  const listing = listArchive(archive, new UnpackBudget(limits), clock)
  clock.advance(30_000)
  await expect(listing).rejects.toMatchObject({ code: 'archive_invalid', message: expect.stringContaining('30 s') })
})

test('there is a number of members that no archive may pass', async () => {
  const most = new UnpackBudget({ ...limits, maxEntries: 101 })
  await expect(listArchive(archive, most, clock)).resolves.toBeDefined()
  const tooFew = new UnpackBudget({ ...limits, maxEntries: 100 })
  await expect(listArchive(archive, tooFew, clock)).rejects.toThrow('more than 100 members')
})

test('many small files count by what a disk takes for them', async () => {
  const free = 2 * 1024 ** 3 + 101 * 4096
  await expect(listArchive(archive, new UnpackBudget({ ...limits, freeBytes: free }), clock)).rejects.toMatchObject({
    code: 'archive_too_large',
  })
})
