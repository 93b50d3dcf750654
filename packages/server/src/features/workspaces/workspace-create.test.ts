import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolePermissions, roles } from '@svc/protocol/roles'
import { describe, expect, onTestFinished, test } from 'vitest'
import { field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { callerFor, requestFacts, workspaceParts } from '../../testing/workspace-parts.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

describe('POST /workspaces', () => {
  test('answers the whole object, with what the server has where nothing is said', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const answer = await succeed(ann.post('/workspaces', { name: ' demo ' }))
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: ann.id,
      name: 'demo',
      container_id: null,
      num_ports: 5,
      image: null,
      service_command: null,
      auto_start: false,
      setup_state: 'complete',
      health_check: null,
      mounts: null,
      env: null,
      allowed_domains: null,
      rejected_domains: null,
      settings: null,
      egress_mode: 'interactive',
      per_handle_home: false,
      classification_banner: null,
      hosted_public: false,
      created_at: '2026-01-01 00:00:00',
    })
    expect(await server.audit('workspace.create')).toEqual([{ name: 'demo', via: 'create' }])
  })

  test('keeps everything that can be set, cleaned up', async () => {
    const env = { SVCD_HOSTED_PORTS_PER_WORKSPACE: '3', SVCD_ALLOWED_IMAGES: 'team/image:1' }
    await using server = await startAccounts({ env })
    const body = {
      name: 'demo',
      image: 'team/image:1',
      service_command: 'npm start',
      setup_state: 'pending',
      health_check: 'curl -f localhost:8000',
      mounts: ['cache:/cache', 'data:/data:ro'],
      env: { A: '1' },
      allowed_domains: ['Example.com', 'example.com', '10.0.0.0/8:22'],
      rejected_domains: ['.evil.example'],
      settings: { idle_timeout: '60', allow_sudo: 'on' },
      egress_mode: 'static',
      per_handle_home: true,
      classification_banner: ' INTERNAL ',
      hosted_public: true,
      something_else: 'ignored',
    }
    const made = await succeed(server.admin.post('/workspaces', body))
    const expected = {
      ...body,
      something_else: undefined,
      num_ports: 3,
      health_check: { command: 'curl -f localhost:8000' },
      allowed_domains: ['example.com', '10.0.0.0/8:22'],
      settings: { idle_timeout: 60, allow_sudo: true },
      classification_banner: 'INTERNAL',
    }
    expect(made.json).toMatchObject(JSON.parse(JSON.stringify(expected)))
    expect((await succeed(server.admin.get('/workspaces'))).json).toMatchObject([made.json])
  })

  test('null is as good as nothing; a home for each member follows the server then', async () => {
    await using server = await startAccounts({ env: { SVCD_PER_HANDLE_HOME: 'true' } })
    const nothing = { image: null, auto_start: null, setup_state: null, egress_mode: null, settings: null }
    const make = async (body: object) => (await succeed(server.admin.post('/workspaces', body))).json
    expect(await make({ name: 'one', ...nothing, per_handle_home: null })).toMatchObject({
      per_handle_home: true,
      setup_state: 'complete',
      egress_mode: 'interactive',
    })
    expect(await make({ name: 'two', per_handle_home: false, image: '', service_command: ' ' })).toMatchObject({
      per_handle_home: false,
      image: null,
      service_command: null,
    })
  })

  test.each([
    [{ image: 'not/allowed' }, /not\/allowed/],
    [{ auto_start: true }, 'auto_start is not allowed on this server'],
    [{ health_check: { command: '' } }, 'health_check needs a command'],
    [{ mounts: ['nowhere'] }, "Invalid mount 'nowhere': it must be source:destination or source:destination:options"],
    [{ mounts: ['/etc:/x'] }, "Invalid mount '/etc:/x': this server mounts volumes only"],
    [{ env: { 'A B': '1' } }, "Invalid environment variable name 'A B'"],
    [{ allowed_domains: ['a b', '::1'] }, "Invalid entries in allowed_domains: 'a b', '::1'"],
    [{ rejected_domains: ['10.0.0.0/8'] }, "Invalid entries in rejected_domains: '10.0.0.0/8'"],
    [{ settings: { gpu: 1 } }, /^Unknown setting 'gpu'; known settings: idle_timeout, /],
    [{ settings: { nix: true } }, "Setting 'nix' cannot be true: this server has no package store"],
    [{ classification_banner: 'a\u200bb' }, 'classification_banner must be one line of printable characters'],
  ])('%j breaks a rule', async (body, detail) => {
    await using server = await startAccounts()
    const answer = await server.admin.post('/workspaces', { name: 'demo', ...body })
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { detail: typeof detail === 'string' ? detail : expect.stringMatching(detail) },
    ])
    expect((await server.admin.get('/workspaces')).json).toEqual([])
  })

  test.each([
    {},
    { name: '' },
    { name: ' \t' },
    { name: 7 },
    { name: 'x'.repeat(256) },
    { name: 'a\nb' },
    { name: 'demo', env: { A: 1 } },
    { name: 'demo', env: ['A'] },
    { name: 'demo', mounts: 'cache:/cache' },
    { name: 'demo', mounts: [7] },
    { name: 'demo', egress_mode: 'open' },
    { name: 'demo', setup_state: 'done' },
    { name: 'demo', auto_start: 'yes' },
    { name: 'demo', per_handle_home: 1 },
    { name: 'demo', settings: [] },
    { name: 'demo', health_check: 7 },
    { name: 'demo', health_check: {} },
  ])('%j has the wrong shape', async (body) => {
    await using server = await startAccounts()
    expect((await server.admin.post('/workspaces', body)).status).toBe(422)
  })

  test('one owner has each name once; another owner may have it too', async () => {
    await using server = await startAccounts()
    const [ann, ben] = [await server.person('ann'), await server.person('ben')]
    for (const person of [ann, ben]) await succeed(person.post('/workspaces', { name: 'demo' }))
    const again = await ann.post('/workspaces', { name: ' demo' })
    expect([again.status, again.json]).toMatchObject([409, { detail: "A workspace named 'demo' already exists" }])
    await succeed(ann.post('/workspaces', { name: 'Demo' }))
  })

  test('the owner may do everything, and every role has its own group', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
    const entries = (await succeed(ann.get(`/workspaces/${id}/acl`))).json
    const groups = await Promise.all(roles.map((role) => server.groupId(`${role}-${id}`)))
    expect(entries).toEqual([
      expect.objectContaining({ position: 0, action: 1, principal_type: 1, user_id: ann.id, permission: '*' }),
      ...roles.flatMap((role, index) =>
        rolePermissions[role].map((permission) =>
          expect.objectContaining({ action: 1, principal_type: 2, group_id: groups[index], permission }),
        ),
      ),
    ])
    const described = (await succeed(server.admin.get(`/groups?source=workspace-role&q=${id}`))).text
    expect(described).not.toContain('demo')
    expect((await succeed(ann.get('/my-permissions'))).text).toContain(`owners-${id}`)
  })

  test('the container of one that starts by itself is started, and its failure is nobody’s', async () => {
    await using server = await startAccounts()
    const { operations, asked, failing, background } = await workspaceParts(server, { SVCD_ALLOW_AUTOSTART: 'true' })
    const ann = await callerFor(server, await server.person('ann'))
    const make = (name: string, autoStart: boolean, id: string) => {
      failing.add(`start ${id} for http://localhost`)
      return operations.create(ann, { name, auto_start: autoStart }, requestFacts(server), { via: 'import', id })
    }
    expect(await make('one', true, NOBODY)).toMatchObject({ id: NOBODY, autoStart: true })
    await make('two', false, NOBODY.replace('3', '4'))
    await background.settled()
    expect(asked).toEqual([`start ${NOBODY} for http://localhost`])
    expect(server.log.records.map(({ message }) => message)).toContain('the first start of a new workspace failed')
  })
})

describe('POST /workspaces/<id>/duplicate', () => {
  const make = async (owner: Person, body: object) => field(await succeed(owner.post('/workspaces', body)), 'id')

  test('copies the configuration to a workspace of the caller, without shares', async () => {
    await using server = await startAccounts()
    const [ann, ben] = [await server.person('ann'), await server.person('ben')]
    const configuration = {
      service_command: 'npm start',
      health_check: { command: 'true', interval: 5 },
      env: { A: '1' },
      allowed_domains: ['example.com'],
      settings: { cpu_limit: 1 },
      egress_mode: 'allow',
      per_handle_home: true,
      classification_banner: 'INTERNAL',
    }
    const id = await make(ann, { name: 'demo', setup_state: 'failed', hosted_public: true, ...configuration })
    await succeed(ann.post(`/workspaces/${id}/members`, { email: 'ben' }))
    await succeed(ann.post(`/workspaces/${id}/roles/owners`, { email: 'ben' }))
    const copy = await succeed(ben.post(`/workspaces/${id}/duplicate`))
    const own = { name: 'demo-copy', user_id: ben.id, setup_state: 'complete', hosted_public: false }
    expect(copy.json).toMatchObject({ ...configuration, ...own })
    expect((await succeed(ben.get(`/workspaces/${field(copy, 'id')}/members`))).json).toEqual([])
    expect((await server.audit('workspace.create')).at(-1)).toEqual({ name: 'demo-copy', via: 'duplicate' })
  })

  test('leaves volumes behind, which are for one workspace each, and takes the mounts of host paths along', async () => {
    const shared = await mkdtemp(join(tmpdir(), 'shared-'))
    onTestFinished(() => rm(shared, { recursive: true }))
    await using server = await startAccounts({ env: { SVCD_ALLOWED_MOUNT_ROOTS: shared } })
    const ann = await server.person('ann')
    const copyOf = async (name: string, mounts: string[]) =>
      (await succeed(ann.post(`/workspaces/${await make(ann, { name, mounts })}/duplicate`))).json
    expect(await copyOf('both', ['cache:/cache', `${shared}:/shared:ro`])).toMatchObject({
      mounts: [`${shared}:/shared:ro`],
    })
    expect(await copyOf('one', ['cache:/cache'])).toMatchObject({ mounts: null })
  })

  test('takes a name, or finds the first that is free', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo' })
    const duplicate = (body?: object) => ann.post(`/workspaces/${id}/duplicate`, body)
    const names: string[] = []
    for (const body of [undefined, {}, { name: null }, { name: 'mine' }]) {
      names.push(field(await succeed(duplicate(body)), 'name'))
    }
    expect(names).toEqual(['demo-copy', 'demo-copy-2', 'demo-copy-3', 'mine'])
    expect((await duplicate({ name: 'demo' })).status).toBe(409)
    expect((await duplicate({ name: '' })).status).toBe(422)
  })

  test('needs the right to make workspaces as well', async () => {
    await using server = await startAccounts()
    const { admin } = server
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo' })
    const path = '/acl/resource?resource=/workspaces'
    const entries = (await succeed(admin.get(path))).json as object[]
    const deny = { action: 0, principal_type: 1, user_id: ann.id, permission: 'create-workspace' }
    await succeed(admin.put(path, [deny, ...entries]))
    expect((await ann.post(`/workspaces/${id}/duplicate`)).status).toBe(403)
    expect((await ann.post('/workspaces', { name: 'more' })).status).toBe(403)
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: at the same time`, () => {
    const databases = useDatabases(kind)

    test('a name asked for twice becomes one workspace and one refusal', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const create = () => ann.post('/workspaces', { name: 'demo' })
      const answers = await server.writeInOrder([create, create])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
      expect((await ann.get('/workspaces')).json).toHaveLength(1)
      expect(await server.audit('workspace.create')).toHaveLength(1)
    })

    test('two copies get two names', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
      const copy = () => ann.post(`/workspaces/${id}/duplicate`)
      const copies = await server.writeInOrder([copy, copy])
      expect(copies.map((answer) => field(answer, 'name')).toSorted()).toEqual(['demo-copy', 'demo-copy-2'])
    })

    test('who is disabled before it is written makes nothing', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const { accounts } = server.app
      const [, refused] = await server.writeInOrder([
        async () => {
          await server.storage.transaction((tx) => accounts.change(tx, ann.id, { disabled: true }))
          return server.stranger.get('/version')
        },
        () => ann.post('/workspaces', { name: 'demo' }),
      ])
      expect([refused?.status, refused?.json]).toMatchObject([403, { detail: 'Account disabled' }])
    })

    test('a workspace deleted meanwhile is neither changed nor copied nor shared', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      await server.person('ben')
      const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
      const members = await server.groupId('members')
      const answers = await server.writeInOrder([
        async () => {
          await server.storage.transaction((tx) => tx.deleteFrom('workspaces').where('id', '=', id).execute())
          return server.stranger.get('/version')
        },
        () => ann.put(`/workspaces/${id}`, { name: 'other' }),
        () => ann.patch(`/workspaces/${id}/settings`, { cpu_limit: 1 }),
        () => ann.post(`/workspaces/${id}/duplicate`),
        () => ann.post(`/workspaces/${id}/members`, { email: 'ben' }),
        () => ann.post(`/workspaces/${id}/roles/coders`, { email: 'ben' }),
        () => ann.patch(`/workspaces/${id}/roles`, { email: 'ben', role: 'coders' }),
        () => ann.delete(`/workspaces/${id}/roles/owners/${ann.id}`),
        () => ann.post(`/workspaces/${id}/groups`, { group_id: members }),
        () => ann.post(`/workspaces/${id}/transfer`, { email: 'ben' }),
        () => ann.put(`/workspaces/${id}/acl`, []),
        () => ann.delete(`/workspaces/${id}`),
      ])
      expect(answers.slice(1).map(({ json }) => json)).toMatchObject(
        Array.from({ length: 11 }, () => ({ detail: 'Workspace not found', code: 'workspace_not_found' })),
      )
    })

    test('of two patches of the settings neither is lost', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const id = field(await succeed(ann.post('/workspaces', { name: 'demo' })), 'id')
      const patch = (body: object) => () => ann.patch(`/workspaces/${id}/settings`, body)
      await server.writeInOrder([patch({ cpu_limit: 1 }), patch({ pids_limit: 9 })])
      expect((await succeed(ann.get('/workspaces'))).json).toMatchObject([
        { settings: { cpu_limit: 1, pids_limit: 9 } },
      ])
    })
  })
}
