import { describe, expect, test } from 'vitest'
import { field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

const make = async (owner: Person, body: object) => field(await succeed(owner.post('/workspaces', body)), 'id')

describe('PUT /workspaces/<id>', () => {
  test('changes what is given, and nothing else', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo', env: { A: '1' }, settings: { cpu_limit: 1 }, service_command: 'x' })
    const put = async (body: object) => (await succeed(ann.put(`/workspaces/${id}`, body))).json
    expect(await put({ name: 'other', egress_mode: 'static' })).toMatchObject({
      status: 'updated',
      id,
      user_id: ann.id,
      name: 'other',
      egress_mode: 'static',
      env: { A: '1' },
      settings: { cpu_limit: 1 },
      service_command: 'x',
    })
    expect(await put({ settings: { pids_limit: 7 }, health_check: 'true' })).toMatchObject({
      settings: { pids_limit: 7 },
      health_check: { command: 'true' },
    })
    expect(await server.audit('workspace.update')).toEqual([
      { fields: ['name', 'egress_mode'] },
      { fields: ['health_check', 'settings'] },
    ])
  })

  test('null takes a field back to what it is without one', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const all = {
      service_command: 'x',
      health_check: 'true',
      mounts: ['cache:/cache'],
      env: { A: '1' },
      allowed_domains: ['a.example'],
      rejected_domains: ['b.example'],
      settings: { cpu_limit: 1 },
      per_handle_home: true,
      classification_banner: 'INTERNAL',
      hosted_public: true,
    }
    const id = await make(ann, { name: 'demo', ...all })
    const nulls = Object.fromEntries(Object.keys(all).map((key) => [key, null]))
    expect((await succeed(ann.put(`/workspaces/${id}`, nulls))).json).toMatchObject({
      ...nulls,
      per_handle_home: false,
      hosted_public: false,
    })
  })

  test.each(['name', 'setup_state', 'egress_mode'])('%s cannot be null', async (name) => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo' })
    const answer = await ann.put(`/workspaces/${id}`, { [name]: null })
    expect([answer.status, answer.json]).toMatchObject([400, { detail: `Field '${name}' cannot be null` }])
  })

  test('without a field there is nothing to update', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo' })
    for (const body of [{}, { num_ports: 9, user_id: 'x', container_id: 'y' }]) {
      const answer = await ann.put(`/workspaces/${id}`, body)
      expect([answer.status, answer.json]).toMatchObject([400, { detail: 'No fields to update' }])
    }
  })

  test('keeps the rules of a new workspace, and changes nothing when one is broken', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo' })
    await make(ann, { name: 'taken' })
    const statusOf = async (body: object) => (await ann.put(`/workspaces/${id}`, body)).status
    expect(await statusOf({ name: 'taken' })).toBe(409)
    expect(await statusOf({ name: 'demo' })).toBe(200)
    expect(await statusOf({ name: '' })).toBe(422)
    expect(await statusOf({ name: 'new', auto_start: true })).toBe(400)
    expect(await statusOf({ name: 'new', settings: { gpu: 1 } })).toBe(400)
    expect(await statusOf({ name: 'new', mounts: ['/:/x'] })).toBe(400)
    expect((await ann.get('/workspaces?q=new')).json).toEqual([])
  })

  test('what the operator no longer offers may be kept, and not begun', async () => {
    await using server = await startAccounts({ env: { SVCD_ALLOW_AUTOSTART: 'true', SVCD_NIX_ENABLED: 'true' } })
    const ann = await server.person('ann')
    const bag = { auto_start: true, settings: { nix: true } }
    const [kept, other] = [await make(ann, { name: 'kept', ...bag }), await make(ann, { name: 'other' })]
    await server.reconfigure({ SVCD_ALLOW_AUTOSTART: 'false', SVCD_NIX_ENABLED: 'false' })
    expect((await succeed(ann.put(`/workspaces/${kept}`, bag))).json).toMatchObject(bag)
    expect((await ann.put(`/workspaces/${other}`, { auto_start: true })).status).toBe(400)
    expect((await ann.put(`/workspaces/${other}`, { settings: { nix: true } })).status).toBe(400)
    expect((await succeed(ann.post(`/workspaces/${kept}/duplicate`))).json).toMatchObject({
      auto_start: false,
      settings: { nix: true },
    })
  })
})

describe('PATCH /workspaces/<id>/settings', () => {
  test('sets, takes away, and leaves the rest', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo', settings: { cpu_limit: 1, idle_timeout: 60 } })
    const patch = async (body: object) => (await succeed(ann.patch(`/workspaces/${id}/settings`, body))).json
    expect(await patch({ cpu_limit: null, memory_limit: '1g' })).toEqual({
      settings: { idle_timeout: 60, memory_limit: '1g' },
    })
    expect(await patch({ idle_timeout: null, memory_limit: null, nix: null })).toEqual({ settings: null })
    expect((await server.audit('workspace.update')).at(-1)).toEqual({
      fields: ['settings'],
      settings: ['idle_timeout', 'memory_limit', 'nix'],
    })
  })

  test.each([
    [undefined, 400],
    [{}, 400],
    [{ gpu: 1 }, 400],
    [{ cpu_limit: -1 }, 400],
    [[], 422],
    ['cpu_limit', 422],
  ])('%j is refused with %i', async (body, status) => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const id = await make(ann, { name: 'demo', settings: { cpu_limit: 1 } })
    expect((await ann.patch(`/workspaces/${id}/settings`, body)).status).toBe(status)
    expect((await ann.get('/workspaces')).json).toMatchObject([{ settings: { cpu_limit: 1 } }])
  })
})

describe('a workspace that is not there', () => {
  const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

  test('is not found by whoever may do everything, and forbidden to everybody else', async () => {
    await using server = await startAccounts()
    const { admin } = server
    const ann = await server.person('ann')
    const path = '/acl/resource?resource=/workspaces'
    const entries = (await succeed(admin.get(path))).json as object[]
    const allow = { action: 1, principal_type: 1, user_id: admin.id, permission: '*' }
    await succeed(admin.put(path, [allow, ...entries]))
    const calls = (person: Person) => [
      () => person.put(`/workspaces/${NOBODY}`, { name: 'x' }),
      () => person.patch(`/workspaces/${NOBODY}/settings`, { nix: null }),
      () => person.delete(`/workspaces/${NOBODY}`),
      () => person.post(`/workspaces/${NOBODY}/duplicate`),
      () => person.post(`/workspaces/${NOBODY}/transfer`, { email: 'ann' }),
      () => person.get(`/workspaces/${NOBODY}/members`),
      () => person.post(`/workspaces/${NOBODY}/members`, { email: 'ann' }),
      () => person.delete(`/workspaces/${NOBODY}/members/x`),
      () => person.get(`/workspaces/${NOBODY}/groups`),
      () => person.post(`/workspaces/${NOBODY}/groups`, { group_id: 'x' }),
      () => person.delete(`/workspaces/${NOBODY}/groups/x`),
      () => person.get(`/workspaces/${NOBODY}/roles`),
      () => person.post(`/workspaces/${NOBODY}/roles/coders`, { email: 'ann' }),
      () => person.patch(`/workspaces/${NOBODY}/roles`, { email: 'ann', role: null }),
      () => person.delete(`/workspaces/${NOBODY}/roles/coders/x`),
      () => person.get(`/workspaces/${NOBODY}/acl`),
      () => person.put(`/workspaces/${NOBODY}/acl`, []),
    ]
    for (const call of calls(admin)) {
      expect((await call()).json).toMatchObject({ code: 'workspace_not_found', detail: 'Workspace not found' })
    }
    for (const call of calls(ann)) expect((await call()).json).toMatchObject({ detail: 'Permission denied' })
  })
})
