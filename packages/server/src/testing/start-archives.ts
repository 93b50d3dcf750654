import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HostHomes } from '../engine/host-homes/host-homes.ts'
import { engineAway } from './engine-away.ts'
import { field, type Person, startAccounts, succeed } from './start-accounts.ts'
import { rawMember } from './tar-blocks.ts'

/** As `startServer` gives it to every server. */
export const INSTANCE = '9d2c8f54-0c44-4f0e-9a3c-0a6d5f3b7a11'

export interface UploadOptions {
  /** In the form. */
  readonly name?: string
  readonly query?: string
  readonly fileName?: string
}

/** A whole server on which workspaces are only made, sent out and taken in. Dispose it when done. */
export async function startArchives(
  options: { env?: Record<string, string>; freeBytes?: number; folder?: string } = {},
) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'svc-archives-')))
  const homes = new HostHomes({ root: join(folder, 'workspaces'), owner: undefined })
  const { freeBytes } = options
  if (freeBytes !== undefined) homes.freeBytes = async () => freeBytes
  const server = await startAccounts({
    folder,
    env: { SVCD_ALLOWED_IMAGES: 'good:1', ...options.env },
    openEngine: async () => ({ ...engineAway(folder), homes }),
  })
  const { admin, storage } = server
  const api = `http://127.0.0.1:${server.port}/api/v1`
  const authorization = (person: Person) => ({ authorization: `Bearer ${person.token}` })
  return {
    api,
    folder,
    homes,
    admin,
    storage,
    log: server.log,
    clock: server.clock,
    app: server.app,
    person: server.person,
    audit: server.audit,
    authorization: authorization(admin),
    /** A workspace of the administrator; answers its id. */
    create: async (body: Record<string, unknown>) =>
      field(await succeed(admin.post('/workspaces', { name: 'first', ...body })), 'id'),
    download: (id: string, method = 'GET') =>
      fetch(`${api}/workspaces/${id}/export`, { method, headers: authorization(admin) }),
    async upload(archive: Buffer, { name, query = '', fileName = 'up.tar.gz' }: UploadOptions = {}, person = admin) {
      const form = new FormData()
      form.append('file', new Blob([new Uint8Array(archive)]), fileName)
      if (name !== undefined) form.append('name', name)
      const headers = authorization(person)
      const answer = await fetch(`${api}/workspaces/import${query}`, { method: 'POST', headers, body: form })
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
    },
    /** Everything an import makes. */
    async everything() {
      const rows = (table: 'workspaces' | 'user_groups' | 'group_members' | 'acl_entries' | 'abandoned_homes') =>
        storage.db.selectFrom(table).selectAll().execute()
      const files = await readdir(folder, { recursive: true })
      return {
        workspaces: await rows('workspaces'),
        groups: [await rows('user_groups'), await rows('group_members')],
        entries: await rows('acl_entries'),
        abandoned: await rows('abandoned_homes'),
        files: files.filter((name) => !/^svc\.db|^workspaces(\/\.removed)?$/.test(name)).toSorted(),
      }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      if (options.folder === undefined) await rm(folder, { recursive: true })
    },
  }
}

/** The member `workspace.json` of an archive of this server. */
export const described = (more: Record<string, unknown> = {}): Buffer =>
  rawMember({ name: 'workspace.json' }, JSON.stringify({ instance_id: INSTANCE, name: 'from archive', ...more }))
