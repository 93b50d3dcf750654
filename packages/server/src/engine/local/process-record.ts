import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ProcessIdentity } from './process-identity.ts'

/** What must be known of a workspace's processes when the server comes back. */
const ProcessRecord = z.object({
  id: z.string(),
  workspaceId: z.string(),
  role: z.enum(['workspace', 'network-sidecar']),
  /** The process that stands for the container: it ends when the agent does. */
  main: ProcessIdentity,
  /** The first process of its process namespace: when it ends, all in it end. */
  init: ProcessIdentity.optional(),
  /** Epoch seconds. */
  startedAt: z.number(),
  /** Named volumes in use. */
  volumes: z.array(z.string()),
})
export type ProcessRecord = z.infer<typeof ProcessRecord>

/** A record for each workspace, as a file. */
export class ProcessRecords {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async find(workspaceId: string): Promise<ProcessRecord | undefined> {
    const text = await readFile(this.#file(workspaceId), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : parse(text)
  }

  async list(): Promise<ProcessRecord[]> {
    const names = await readdir(this.#directory).catch(() => [])
    const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length))
    const records = await Promise.all(ids.map((id) => this.find(id)))
    return records.filter((record) => record !== undefined)
  }

  /** Replaces at once, so that no half of a record is ever read. */
  async write(record: ProcessRecord): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const file = this.#file(record.workspaceId)
    await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
    await rename(`${file}.new`, file)
  }

  async remove(workspaceId: string): Promise<void> {
    await rm(this.#file(workspaceId), { force: true })
  }

  #file(workspaceId: string): string {
    return join(this.#directory, `${workspaceId}.json`)
  }
}

/** Undefined for what is no record of ours. */
function parse(text: string): ProcessRecord | undefined {
  try {
    return ProcessRecord.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
