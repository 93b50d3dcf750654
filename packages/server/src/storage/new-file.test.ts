import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeNewFile } from './new-file.ts'

test('a file that took the name while the new one was being written is kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-new-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'backup')
  const attempt = writeNewFile(path, async (temporaryPath) => {
    await writeFile(temporaryPath, 'ours')
    await writeFile(path, 'precious')
  })
  await expect(attempt).rejects.toThrow(`${path} already exists, and a backup never overwrites a file`)
  expect(await readFile(path, 'utf8')).toBe('precious')
  expect(await readdir(folder)).toEqual(['backup'])
})
