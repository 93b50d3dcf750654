import type { Kysely } from 'kysely'
import * as z from 'zod'
import type { Database } from '../../storage/database.ts'
import type { MountingWorkspace } from './volume-list.ts'

type Queries = Kysely<Database>

const Mounts = z.array(z.string())
/** Databases take only so many values in one statement. */
const IDS_AT_ONCE = 500

/** What the table `workspaces` says about volumes. */
export class VolumeStore {
  /** Every workspace that mounts anything. */
  async mounting(queries: Queries): Promise<MountingWorkspace[]> {
    const rows = await queries
      .selectFrom('workspaces')
      .select(['id', 'name', 'mounts'])
      .where('mounts', 'is not', null)
      .execute()
    return rows.map(({ id, name, mounts }) => ({ id, name, mounts: Mounts.parse(JSON.parse(mounts ?? '[]')) }))
  }

  /** The names of those that exist, by their ids. */
  async names(queries: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>()
    const wanted = [...new Set(ids)]
    for (let at = 0; at < wanted.length; at += IDS_AT_ONCE) {
      const some = wanted.slice(at, at + IDS_AT_ONCE)
      const rows = await queries.selectFrom('workspaces').select(['id', 'name']).where('id', 'in', some).execute()
      for (const { id, name } of rows) names.set(id, name)
    }
    return names
  }
}
