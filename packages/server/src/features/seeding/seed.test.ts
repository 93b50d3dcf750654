import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { ADMIN, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { scratchFolder } from '../../testing/start-daemon.ts'
import { startServer } from '../../testing/start-server.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { SeedRefused } from './seed.ts'

const AGENT = '00000000-0000-0000-0000-000000000001'

/** The table of the specification, typed from it. */
const DEFAULT_ENTRIES = [
  ['/', 'allow', 'authenticated', 'view'],
  ['/', 'deny', 'everyone', '*'],
  ['/acl', 'allow', 'admins', 'manage-acls'],
  ['/acl', 'deny', 'everyone', '*'],
  ['/events', 'allow', 'admins', 'manage-events'],
  ['/events', 'deny', 'everyone', '*'],
  ['/groups', 'allow', 'admins', 'manage-groups'],
  ['/groups', 'deny', 'everyone', '*'],
  ['/images', 'allow', 'authenticated', 'view-images'],
  ['/invitations', 'allow', 'admins', 'manage-invitations'],
  ['/invitations', 'deny', 'everyone', '*'],
  ['/server', 'allow', 'admins', 'manage-server-schedule'],
  ['/server', 'deny', 'everyone', '*'],
  ['/users', 'allow', 'admins', 'manage-users'],
  ['/users', 'allow', 'authenticated', 'search-users'],
  ['/users', 'deny', 'everyone', '*'],
  ['/volumes', 'allow', 'admins', 'view-volumes'],
  ['/volumes', 'allow', 'admins', 'manage-volumes'],
  ['/workspaces', 'allow', 'admins', 'create-workspace'],
  ['/workspaces', 'allow', 'members', 'create-workspace'],
]

type Server = Awaited<ReturnType<typeof startServer>>

const entriesOf = async ({ storage }: Server) => {
  const rows = await storage.db
    .selectFrom('acl_entries')
    .leftJoin('user_groups', 'user_groups.id', 'acl_entries.group_id')
    .select(['resource', 'action', 'principal_kind', 'permission', 'user_groups.name'])
    .orderBy('resource')
    .orderBy('position')
    .execute()
  return rows.map((row) => [row.resource, row.action, row.name ?? row.principal_kind, row.permission])
}

const membersOf = async ({ storage }: Server) =>
  storage.db
    .selectFrom('group_members')
    .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
    .innerJoin('users', 'users.id', 'group_members.user_id')
    .select(['user_groups.name', 'users.email'])
    .orderBy('user_groups.name')
    .orderBy('users.email')
    .execute()

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: the first start`, () => {
    const databases = useDatabases(kind)

    test('makes the groups, the entries of the specification, the system agent and the administrator', async () => {
      await using server = await startServer(
        { SVCD_DEFAULT_USER: 'me@example.com' },
        { database: await databases.create() },
      )
      expect(await entriesOf(server)).toEqual(DEFAULT_ENTRIES)
      expect(await membersOf(server)).toEqual([
        { name: 'admins', email: 'me@example.com' },
        { name: 'members', email: 'me@example.com' },
      ])
      const users = await server.storage.db.selectFrom('users').selectAll().orderBy('provider').execute()
      expect(users).toMatchObject([
        { email: 'me@example.com', handle: 'me', verified: 1, password_hash: null },
        { id: AGENT, provider: 'system', handle: 'svc', password_hash: null },
      ])
    })

    test('is not repeated: later ones change nothing, whatever the settings say', async () => {
      const database = await databases.create()
      {
        await using server = await startAccounts({ database })
        const root = [{ action: 1, principal_type: 0, system_principal: 'Authenticated', permission: 'view' }]
        await succeed(server.admin.put('/acl/resource?resource=/', root))
        await succeed(server.admin.put('/acl/resource?resource=/images', []))
      }
      const other = { SVCD_DEFAULT_USER: 'other@example.com', SVCD_DEFAULT_PASSWORD: 'another password' }
      await using server = await startServer({ SVCD_AUTH_MODES: 'password', ...other }, { database })
      const changed = DEFAULT_ENTRIES.filter(([resource]) => resource !== '/images').toSpliced(1, 1)
      expect(await entriesOf(server)).toEqual(changed)
      expect((await membersOf(server)).map(({ email }) => email)).toEqual([ADMIN.email, ADMIN.email])
    })

    test('the database itself protects the system agent', async () => {
      await using server = await startServer({}, { database: await databases.create() })
      const { storage } = server
      const group = await storage.db.selectFrom('user_groups').select('id').executeTakeFirstOrThrow()
      const attempts = [
        () => storage.db.deleteFrom('users').where('id', '=', AGENT).execute(),
        () => storage.db.updateTable('users').set({ disabled: 1 }).where('id', '=', AGENT).execute(),
        () => storage.db.updateTable('users').set({ handle: 'other' }).where('id', '=', AGENT).execute(),
        () => storage.db.updateTable('users').set({ password_hash: 'x' }).where('id', '=', AGENT).execute(),
        () =>
          storage.db.insertInto('group_members').values({ group_id: group.id, user_id: AGENT, source: 'x' }).execute(),
        () =>
          storage.db
            .insertInto('acl_entries')
            .values({
              resource: '/x',
              position: 0,
              action: 'allow',
              principal_kind: 'user',
              user_id: AGENT,
              permission: '*',
            })
            .execute(),
      ]
      for (const attempt of attempts) await expect(attempt()).rejects.toThrow()
    })
  })
}

describe('an installation without an administrator', () => {
  test('gets one again at the next start: the account of that address, or a new one', async () => {
    const folder = await scratchFolder()
    {
      await using server = await startAccounts({ folder })
      const ann = await server.person('ann')
      await succeed(server.admin.delete(`/groups/${await server.groupId('admins')}/members/${server.admin.id}`))
      expect((await server.admin.get('/users')).status).toBe(403)
      expect((await ann.get('/users')).status).toBe(403)
    }
    await using server = await startServer(
      { SVCD_AUTH_MODES: 'password', SVCD_DEFAULT_USER: 'ann@example.com', SVCD_DEFAULT_PASSWORD: 'not taken over' },
      { folder },
    )
    expect((await membersOf(server))[0]).toEqual({ name: 'admins', email: 'ann@example.com' })
    const login = await server.request('POST', '/api/v1/auth/login', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: 'ann', password: PASSWORD }),
    })
    expect(login.status).toBe(200)
  })
})

describe('a start is refused', () => {
  test('when the address of the administrator to be was registered by somebody who never proved it', async () => {
    const folder = await scratchFolder()
    {
      await using server = await startAccounts({ folder, mail: true })
      await succeed(server.stranger.post('/auth/register', { email: 'boss@example.com', password: PASSWORD }))
      await succeed(server.admin.delete(`/groups/${await server.groupId('admins')}/members/${server.admin.id}`))
    }
    const env = { SVCD_AUTH_MODES: 'password', SVCD_DEFAULT_USER: 'boss@example.com', SVCD_DEFAULT_PASSWORD: PASSWORD }
    const attempt = startServer(env, { folder })
    await expect(attempt).rejects.toThrow('SVCD_DEFAULT_USER is boss@example.com, which somebody registered')
  })

  test.each([
    ['without a password for the administrator', { SVCD_DEFAULT_PASSWORD: '' }, 'SVCD_DEFAULT_PASSWORD must be set'],
    [
      'with a weak one',
      { SVCD_DEFAULT_PASSWORD: 'short' },
      'SVCD_DEFAULT_PASSWORD is not good enough: Password must be',
    ],
  ])('%s', async (_, env, message) => {
    const attempt = startServer({ SVCD_AUTH_MODES: 'password', ...env })
    await expect(attempt).rejects.toThrow(SeedRefused)
    await expect(attempt).rejects.toThrow(message)
  })

  test('when the mode asks for passwords and no administrator has one', async () => {
    const folder = await scratchFolder()
    const clock = new FakeClock()
    {
      await using _ = await startServer({}, { folder, clock })
    }
    const attempt = startServer({ SVCD_AUTH_MODES: 'password', SVCD_DEFAULT_PASSWORD: PASSWORD }, { folder, clock })
    await expect(attempt).rejects.toThrow('SVCD_AUTH_MODES is password, and no administrator has a password')
  })
})
