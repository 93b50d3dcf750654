import { open } from 'node:fs/promises'

const END_BYTES = 2000

/** The last lines of a file, for a message. */
export async function readLogEnd(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined)
  if (!file) return 'it wrote nothing'
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, Math.max(0, size - END_BYTES))
    return buffer.toString('utf8', 0, bytesRead).trim() || 'it wrote nothing'
  } finally {
    await file.close()
  }
}
