import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const InstanceId = z.uuid()

/**
 * The name of this installation, made once and kept in the data directory, so that it moves with the data. A file that
 * holds something else is refused rather than replaced: everything this instance owns is labelled with the old id.
 */
export async function instanceId(dataDir: string): Promise<string> {
  const file = join(dataDir, 'instance-id')
  const existing = await readExisting(file)
  if (existing !== undefined) return existing
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${randomUUID()}\n`, { mode: 0o600, flush: true })
  // `link` is atomic and fails when the file exists, so a crash or a race never leaves half an id or two of them.
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return (await readExisting(file)) ?? instanceId(dataDir)
}

async function readExisting(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const id = InstanceId.safeParse(text.trim())
  if (!id.success) throw new Error(`${file} does not hold an instance id; restore it from a backup, or remove it`)
  return id.data
}
