import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { startArchives } from '../../testing/start-archives.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { callerFor, requestFacts, workspaceParts } from '../../testing/workspace-parts.ts'
import { OwnerWatch } from '../workspaces/owner-watch.ts'
import { UserDeparture } from './user-departure.ts'

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: deleting somebody who has workspaces`, () => {
    const databases = useDatabases(kind)

    async function open() {
      const server = await startAccounts({ database: await databases.create() })
      const parts = await workspaceParts(server)
      const departure = new UserDeparture(parts)
      const ann = await server.person('ann')
      const request = requestFacts(server)
      const make = async (owner: Person, name: string) => {
        server.clock.advance(1000) // the oldest goes first
        return (await parts.operations.create(await callerFor(server, owner), { name }, request)).id
      }
      const admin = await callerFor(server, server.admin)
      const remove = () => departure.delete(admin, ann.id, request)
      const isDisabled = async () => (await server.app.accounts.find(ann.id))?.disabled
      return { server, ...parts, ann, admin, request, make, remove, isDisabled }
    }

    test('stops and removes each of them, then the account, and keeps their files as archives', async () => {
      const { server, ann, make, remove, asked, background, workspaces, isDisabled } = await open()
      await using _ = server
      const ben = await server.person('ben')
      const [one, two, other] = [await make(ann, 'one'), await make(ann, 'two'), await make(ben, 'three')]
      await remove()
      await background.settled()
      expect(asked.toSorted()).toEqual(
        [
          ...[`stop ${one} logout`, `archive ${one} about one`, `remove ${one}`],
          ...[`stop ${two} logout`, `archive ${two} about two`, `remove ${two}`],
        ].toSorted(),
      )
      expect(await isDisabled()).toBeUndefined()
      expect((await workspaces.require(other)).ownerId).toBe(ben.id)
      expect(await server.audit('user.delete')).toEqual([{ email: 'ann@example.com' }])
      expect(await server.audit('workspace.delete')).toHaveLength(2)
    })

    test('one that cannot be stopped stays with its disabled owner, and the call can be made again', async () => {
      const { server, ann, make, remove, failing, workspaces, isDisabled } = await open()
      await using _ = server
      const [one, two] = [await make(ann, 'one'), await make(ann, 'two')]
      failing.add(`stop ${two} logout`)
      await expect(remove()).rejects.toThrow(`stop ${two} logout failed`)
      expect(await isDisabled()).toBe(true)
      expect((await workspaces.ownedBy(ann.id)).map(({ id }) => id)).toEqual([two])
      expect((await ann.get('/auth/me')).status).toBe(403)
      await expect(make(ann, 'late')).rejects.toThrow('Account disabled')
      expect(await workspaces.find(one)).toBeUndefined()

      failing.clear()
      await remove()
      expect(await isDisabled()).toBeUndefined()
      expect(await server.audit('user.update')).toEqual([{ fields: ['disabled'] }])
    })

    test('waits for no archive', async () => {
      const { server, ann, make, remove, onAsked, background, isDisabled } = await open()
      await using _ = server
      const id = await make(ann, 'one')
      const archived = Promise.withResolvers<void>()
      onAsked.set(`archive ${id} about one`, () => archived.promise)
      await remove()
      expect(await isDisabled()).toBeUndefined()
      archived.resolve()
      await background.settled()
    })

    test('one that got another owner meanwhile is left alone', async () => {
      const { server, ann, admin, make, removal, asked, onAsked, store, workspaces, request } = await open()
      await using _ = server
      const ben = await server.person('ben')
      const id = await make(ann, 'one')
      const given = () => store.update(server.storage.db, id, { ownerId: ben.id })
      onAsked.set(`stop ${id} logout`, given) // while the container is being stopped
      await removal.deleteAllOf(ann.id, { actor: admin, request })
      expect(asked).toEqual([`stop ${id} logout`])
      expect((await workspaces.require(id)).ownerId).toBe(ben.id)
    })
  })
}

test('what somebody owned is kept as an archive when an administrator deletes them', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
  await succeed(server.admin.delete(`/users/${ann.id}`))
  await expect.poll(() => readdir(join(server.folder, 'archives'))).toEqual([`${id}.tar.gz`])
  expect(await server.storage.db.selectFrom('workspaces').select('id').execute()).toEqual([])
  const groups = await server.storage.db.selectFrom('user_groups').select('name').execute()
  expect(JSON.stringify(groups)).not.toContain(id)
})

test('nothing in a home keeps its owner from being deleted', async () => {
  await using server = await startArchives()
  const ann = await server.person('ann')
  const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
  await server.homes.ensure(id)
  const home = server.homes.pathOf(id)
  await mkdir(join(home, 'd/'.repeat(700)), { recursive: true })
  await writeFile(join(home, 'sparse'), '')
  await truncate(join(home, 'sparse'), 2 ** 40)
  await succeed(server.admin.delete(`/users/${ann.id}`))
  await expect.poll(() => readdir(join(server.folder, 'archives'))).toEqual([`${id}.tar.gz`])
  await expect.poll(() => readdir(join(server.folder, 'workspaces'))).not.toContain(id)
})

describe('the workspaces of somebody whose account is disabled', () => {
  async function open() {
    const server = await startAccounts()
    const parts = await workspaceParts(server)
    const ann = await server.person('ann')
    const caller = await callerFor(server, ann)
    const make = async (name: string) => (await parts.operations.create(caller, { name }, requestFacts(server))).id
    const watch = new OwnerWatch({
      ...parts,
      stop: (id, actor) => parts.ask(`stop ${id} by ${actor.type === 'user' ? actor.id : 'the server'}`),
    })
    return { server, ...parts, ann, make, watch }
  }

  test('are stopped, each for itself', async () => {
    const { server, ann, make, watch, asked, failing, background } = await open()
    await using _ = server
    const ids = [await make('one'), await make('two')]
    const stops = ids.map((id) => `stop ${id} by ${server.admin.id}`)
    failing.add(stops[0] ?? '')
    await watch.begin()
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    await expect.poll(() => asked.toSorted()).toEqual(stops.toSorted())
    await background.settled()
    watch.end()
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: false }))
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    await background.settled()
    expect(asked).toHaveLength(2)
  })

  test('are stopped in the name of who deletes the account', async () => {
    const { server, ann, make, watch, asked, background, ...parts } = await open()
    await using _ = server
    const id = await make('one')
    await watch.begin()
    const admin = await callerFor(server, server.admin)
    await new UserDeparture(parts).delete(admin, ann.id, requestFacts(server))
    await background.settled()
    watch.end()
    expect(asked).toContain(`stop ${id} by ${server.admin.id}`)
  })

  test('are stopped at the next start when they were running on without the server', async () => {
    const { server, ann, make, watch, asked, workspaces, background } = await open()
    await using _ = server
    const id = await make('one')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    await workspaces.noteContainer(id, 'a container')
    await watch.begin()
    await background.settled()
    expect(asked).toEqual([`stop ${id} by the server`])
    watch.end()
  })
})
