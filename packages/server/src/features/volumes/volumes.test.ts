import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ContainerEngine, EngineError, type Volume, type VolumeStorage } from '../../engine/container-engine.ts'
import { engineAway } from '../../testing/engine-away.ts'
import { type AccountsServer, field, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { WorkspaceStore } from '../workspaces/workspace-store.ts'
import { Workspaces } from '../workspaces/workspaces.ts'
import { VolumeStore } from './volume-store.ts'
import { Volumes } from './volumes.ts'

/** Volumes as an engine keeps them: it compares nothing, and answers only after a while. */
class EngineVolumes implements VolumeStorage {
  readonly all = new Map<string, Volume | 'foreign'>()
  readonly inUse = new Set<string>()
  made = 0
  clockSeconds = 1_767_225_600

  async list(): Promise<Volume[]> {
    await pause()
    return [...this.all.values()].filter((volume) => volume !== 'foreign')
  }

  async find(name: string): Promise<Volume | 'foreign' | undefined> {
    await pause()
    return this.all.get(name)
  }

  async create(name: string, workspaceId: string): Promise<Volume> {
    await pause()
    this.made++
    const volume = { name, workspaceId, createdAt: this.clockSeconds++ }
    this.all.set(name, volume)
    return volume
  }

  async remove(name: string): Promise<boolean> {
    await pause()
    if (this.inUse.has(name)) return false
    this.all.delete(name)
    return true
  }
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

let server: AccountsServer
let engine = new EngineVolumes()
let supported = true
let first = ''
let second = ''
beforeAll(async () => {
  server = await startAccounts({ openEngine: async (folder) => engineWithVolumes(engineAway(folder)) })
  first = await workspace('first', ['data:/data'])
  second = await workspace('Second_one', ['data:/d', 'data:/e', 'cache:/c'])
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  engine = new EngineVolumes()
  supported = true
  await server.reconfigure({})
})

/** The volumes of the present test, behind one engine for all of them. */
function engineWithVolumes(away: ContainerEngine): ContainerEngine {
  return {
    ...away,
    get supports() {
      return { ...away.supports, volumes: supported }
    },
    get volumes() {
      return engine
    },
  }
}

const quota = (volumes: number) => server.reconfigure({ SVCD_VOLUME_QUOTA_PER_WORKSPACE: String(volumes) })

async function workspace(name: string, mounts: string[]): Promise<string> {
  return field(await succeed(server.admin.post('/workspaces', { name, mounts })), 'id')
}

const create = (body: unknown) => server.admin.post('/volumes', body)
const remove = (name: string) => server.admin.delete(`/volumes/${name}`)
const list = async (query = '') => (await server.admin.get(`/volumes${query}`)).json as VolumePage
interface VolumePage {
  volumes: { name: string; workspaces: string[] }[]
  total: number
  page: number
  page_size: number
}
const names = async (query: string) => (await list(query)).volumes.map(({ name }) => name)

test('a new volume belongs to its workspace and says who mounts it', async () => {
  const before = (await server.audit('volume.create')).length
  const answer = await create({ name: 'data', workspace: first })
  const volume = {
    name: 'data',
    created: '2026-01-01T00:00:00+00:00',
    workspace_id: first,
    workspace: 'first',
    workspaces: ['Second_one', 'first'],
  }
  expect([answer.status, answer.json]).toEqual([200, volume])
  expect(await list()).toEqual({ volumes: [volume], page: 1, page_size: 10, total: 1 })
  expect((await server.audit('volume.create')).slice(before)).toEqual([{ workspace_id: first }])
})

test.each(['', '-a', '.a', 'a b', 'a/b', 'ä', 'a'.repeat(65), 'a\n'])('the name "%s" is refused', async (name) => {
  const answer = await create({ name, workspace: first })
  expect(answer.status).toBe(422)
  expect(answer.text).toContain('string_pattern_mismatch')
  if (name !== '' && !name.includes('/')) expect((await remove(encodeURIComponent(name))).status).toBe(422)
})

test('an unknown workspace, then a name that is taken, then the quota', async () => {
  await quota(1)
  await create({ name: 'one', workspace: first })
  engine.all.set('theirs', 'foreign')
  const asked = [
    { name: 'one', workspace: randomUUID() },
    { name: 'one', workspace: first },
    { name: 'theirs', workspace: first },
    { name: 'two', workspace: first },
  ]
  const answers = []
  for (const body of asked) answers.push((await create(body)).json)
  expect(answers).toEqual([
    expect.objectContaining({ code: 'workspace_not_found', detail: 'Workspace not found' }),
    expect.objectContaining({ code: 'conflict', detail: "Volume 'one' already exists" }),
    expect.objectContaining({ code: 'conflict' }),
    expect.objectContaining({
      code: 'volume_quota_reached',
      detail: 'This workspace has 1 of 1 volumes (SVCD_VOLUME_QUOTA_PER_WORKSPACE): delete a volume first',
    }),
  ])
  expect((await create({ name: 'two', workspace: second })).status).toBe(200)
})

test('of several who want one name at once, one gets it; and nobody passes the quota together', async () => {
  const same = await Promise.all(Array.from({ length: 5 }, () => create({ name: 'same', workspace: first })))
  expect(same.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
  await quota(3)
  const many = await Promise.all(Array.from({ length: 5 }, (_, n) => create({ name: `v${n}`, workspace: first })))
  expect(many.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429, 429])
})

test('a volume is deleted unless a container has it', async () => {
  await create({ name: 'data', workspace: first })
  engine.inUse.add('data')
  const used = await remove('data')
  expect([used.status, used.json]).toEqual([409, expect.objectContaining({ detail: 'Volume is in use' })])
  engine.inUse.clear()
  const before = (await server.audit('volume.delete')).length
  expect((await remove('data')).json).toEqual({ status: 'deleted' })
  expect((await server.audit('volume.delete')).slice(before)).toEqual([{ workspace_id: first }])
  expect((await remove('data')).json).toMatchObject({ detail: 'Volume not found' })
  engine.all.set('theirs', 'foreign')
  expect((await remove('theirs')).status).toBe(404)
})

test('a volume that cannot be recorded is not made', async () => {
  await server.storage.db.schema.alterTable('audit_events').renameTo('audit_events_away').execute()
  try {
    expect((await create({ name: 'data', workspace: first })).status).toBe(500)
  } finally {
    await server.storage.db.schema.alterTable('audit_events_away').renameTo('audit_events').execute()
  }
  expect(engine.all.size).toBe(0)
})

describe('the list', () => {
  beforeEach(async () => {
    for (const name of ['b', 'a', 'data', 'odd_one']) await engine.create(name, first)
    await engine.create('orphan', randomUUID())
  })

  test.each([
    ['', ['orphan', 'odd_one', 'data', 'a', 'b']],
    ['?sort=created&order=asc', ['b', 'a', 'data', 'odd_one', 'orphan']],
    ['?sort=name&order=asc', ['a', 'b', 'data', 'odd_one', 'orphan']],
    ['?sort=nonsense&order=sideways', ['orphan', 'odd_one', 'data', 'a', 'b']],
    ['?sort=name&order=asc&page=2&page_size=2', ['data', 'odd_one']],
    ['?page=99', []],
    ['?page=-1&page_size=0&sort=name&order=desc', ['orphan']],
    ['?q=DAT', ['data']],
    ['?q=_', ['odd_one', 'data']],
    ['?q=%25', []],
    ['?q=FIRST', ['odd_one', 'data', 'a', 'b']],
    ['?q=second', ['data']],
  ])('with "%s" holds %j', async (query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  test('says how many there are, and clamps what is asked for', async () => {
    expect(await list('?page_size=9999&q=a')).toMatchObject({ page: 1, page_size: 200, total: 3 })
  })

  test('has no name for a workspace that is gone', async () => {
    expect((await list('?q=orphan')).volumes).toEqual([
      expect.objectContaining({ name: 'orphan', workspace: null, workspaces: [] }),
    ])
  })

  test('puts volumes of one moment in the order of their names', async () => {
    engine.clockSeconds = 5
    for (const name of ['z', 'x', 'y']) engine.all.set(name, { name, workspaceId: first, createdAt: 7 })
    expect((await names('')).slice(-3)).toEqual(['x', 'y', 'z'])
    expect((await names('?order=asc')).slice(0, 3)).toEqual(['x', 'y', 'z'])
  })
})

test('only those who may see volumes see them, and only those who may manage them make and delete them', async () => {
  const ann = await server.person('ann')
  const calls = [ann.get('/volumes'), ann.post('/volumes', { name: 'a', workspace: first }), ann.delete('/volumes/a')]
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([403, 403, 403])
})

test('an engine that does not answer is no fault of ours', async () => {
  const away = () => Promise.reject(new EngineError('unavailable', 'away'))
  engine.list = away
  engine.find = away
  const calls = [server.admin.get('/volumes'), create({ name: 'a', workspace: first }), remove('a')]
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([503, 503, 503])
})

test('an engine without volumes has none, and says so to who wants one', async () => {
  supported = false
  expect(await list()).toMatchObject({ volumes: [], total: 0 })
  expect([(await create({ name: 'a', workspace: first })).status, (await remove('a')).status]).toEqual([400, 400])
  await volumes().ensureFor({ id: first }, [])
  await expect(volumes().ensureFor({ id: first }, ['data'])).rejects.toMatchObject({ code: 'bad_request' })
})

/** As the lifecycle of workspaces has them. */
function volumes(quotaPerWorkspace = 0): Volumes {
  const { storage, app } = server
  return new Volumes({
    storage,
    store: new VolumeStore(),
    engine: engineWithVolumes(server.engine),
    workspaces: new Workspaces({ storage, store: new WorkspaceStore() }),
    audit: app.audit,
    quotaPerWorkspace: () => quotaPerWorkspace,
  })
}

describe('at a start', () => {
  test('missing volumes are made for the workspace, and its own are used', async () => {
    const before = (await server.audit('volume.create')).length
    await volumes().ensureFor({ id: first }, ['data', 'cache', 'data'])
    await volumes().ensureFor({ id: first }, ['data'])
    expect((await engine.list()).map(({ name, workspaceId }) => [name, workspaceId])).toEqual([
      ['data', first],
      ['cache', first],
    ])
    const made = { workspace_id: first, via: 'start' }
    expect((await server.audit('volume.create')).slice(before)).toEqual([made, made])
  })

  test.each<[string, () => Volume | 'foreign', string]>([
    ['of another workspace', () => ({ name: 'data', workspaceId: second, createdAt: 0 }), 'another workspace'],
    ['without a label of ours', () => 'foreign', 'no workspace of this server'],
  ])('a volume %s refuses it', async (_, volume, why) => {
    engine.all.set('data', volume())
    const refusal = { code: 'bad_request', message: expect.stringContaining(why) }
    await expect(volumes().ensureFor({ id: first }, ['data'])).rejects.toMatchObject(refusal)
  })

  test('the quota counts, and the name is looked at again', async () => {
    const one = volumes(1)
    await expect(one.ensureFor({ id: first }, ['one', 'two'])).rejects.toMatchObject({ code: 'volume_quota_reached' })
    await expect(one.ensureFor({ id: first }, ['../x'])).rejects.toMatchObject({ code: 'bad_request' })
  })

  test('two starts at once make one volume', async () => {
    const shared = volumes()
    await Promise.all([shared.ensureFor({ id: first }, ['data']), shared.ensureFor({ id: first }, ['data'])])
    expect(engine.made).toBe(1)
  })
})
