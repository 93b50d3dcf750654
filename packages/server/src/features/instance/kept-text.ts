import { link, readFile, rm, writeFile } from 'node:fs/promises'

/**
 * A text that is made once and kept in a file of ours. Neither a crash nor two servers starting together leave half of
 * it or two of them. A file that holds something else is refused rather than replaced.
 */
export async function keptText(
  file: string,
  text: { what: string; make: () => string; isValid: (text: string) => boolean },
): Promise<string> {
  const existing = await readExisting(file)
  if (existing !== undefined) {
    if (text.isValid(existing)) return existing
    throw new Error(`${file} does not hold ${text.what}; restore it from a backup, or remove it`)
  }
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${text.make()}\n`, { mode: 0o600, flush: true })
  // `link` is atomic and fails when the file exists.
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return keptText(file, text)
}

async function readExisting(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text?.trim()
}
