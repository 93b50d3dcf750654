import { type Permission, permissions } from '@svc/protocol/permissions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_PREFIX } from '../../kernel/route.ts'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

/** What somebody can be to a workspace, from most to least. The administrator of the server is a stranger there. */
const PERSONAS = [
  'owner',
  'owners',
  'collaborators',
  'coders',
  'spectators',
  'shared with',
  'in a group shared with',
  'stranger',
  'administrator',
] as const
type Persona = (typeof PERSONAS)[number]

const everybody = PERSONAS
const fullOwners: readonly Persona[] = ['owner', 'owners']
const roles: readonly Persona[] = [...fullOwners, 'collaborators', 'coders', 'spectators']
/** Who has `monitor-workspace`. */
const monitors: readonly Persona[] = [...roles, 'shared with']
/** Who has `terminal`. */
const visitors: readonly Persona[] = [...monitors, 'in a group shared with']

/** Who has the files permissions. */
const fileUsers: readonly Persona[] = [
  ...fullOwners,
  'collaborators',
  'coders',
  'shared with',
  'in a group shared with',
]

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'
const toNobody = { email: 'nobody' }

interface Call {
  readonly may: readonly Persona[]
  /** The permissions on the workspace it takes, or each of those that are enough. */
  readonly needs?: readonly Permission[] | { readonly anyOf: readonly Permission[] }
  /** What they get; everybody else gets 403. */
  readonly status: number
  readonly body?: unknown
  /** It ends the workspace, so each has one of their own. */
  readonly ends?: true
}

/** Every route about workspaces and who may call it, as the permission lists of the contract say. */
const TABLE: Readonly<Record<string, Call>> = {
  'GET /workspaces': { may: everybody, status: 200 },
  'GET /workspaces/shared': { may: everybody, status: 200 },
  'POST /workspaces': { may: everybody, status: 422, body: {} },
  'POST /workspaces/import': { may: everybody, status: 415, body: {} },

  'PUT /workspaces/:id': { needs: ['edit-workspace'], may: fullOwners, status: 400, body: {} },
  'PATCH /workspaces/:id/settings': { needs: ['edit-workspace'], may: fullOwners, status: 400, body: {} },
  'DELETE /workspaces/:id': { needs: ['delete-workspace'], may: fullOwners, status: 200, ends: true },
  'POST /workspaces/:id/duplicate': {
    needs: ['duplicate-workspace'],
    may: fullOwners,
    status: 422,
    body: { name: '' },
  },
  'POST /workspaces/:id/transfer': { needs: ['transfer-workspace'], may: fullOwners, status: 404, body: toNobody },
  'GET /workspaces/:id/export': { needs: ['export-workspace'], may: fullOwners, status: 200 },

  'GET /workspaces/:id/status': { needs: ['monitor-workspace'], may: monitors, status: 200 },
  'POST /workspaces/:id/start': { needs: { anyOf: ['terminal', 'start-workspace'] }, may: visitors, status: 503 },
  'POST /workspaces/:id/stop': { needs: { anyOf: ['terminal', 'stop-workspace'] }, may: visitors, status: 200 },
  'POST /workspaces/:id/restart': { needs: { anyOf: ['terminal', 'restart-workspace'] }, may: visitors, status: 200 },

  // It does not run.
  'GET /workspaces/:id/files': { needs: ['files-view'], may: fileUsers, status: 409 },
  'GET /workspaces/:id/files/content': { needs: ['files-view', 'files-download'], may: fileUsers, status: 422 },
  'GET /workspaces/:id/files/download': { needs: ['files-view', 'files-download'], may: fileUsers, status: 422 },
  'POST /workspaces/:id/files/upload': { needs: ['files-view', 'files-write'], may: fileUsers, status: 409, body: {} },
  'POST /workspaces/:id/files/rename': { needs: ['files-view', 'files-write'], may: fileUsers, status: 422, body: {} },
  'POST /workspaces/:id/files/directory': {
    needs: ['files-view', 'files-write'],
    may: fileUsers,
    status: 409,
    body: { path: '/new' },
  },
  'DELETE /workspaces/:id/files': { needs: ['files-view', 'files-write'], may: fileUsers, status: 422 },

  'GET /workspaces/:id/members': { needs: ['share-workspace'], may: fullOwners, status: 200 },
  'POST /workspaces/:id/members': { needs: ['share-workspace'], may: fullOwners, status: 404, body: toNobody },
  'DELETE /workspaces/:id/members/:member_id': { needs: ['share-workspace'], may: fullOwners, status: 200 },
  'GET /workspaces/:id/groups': { needs: ['share-workspace'], may: fullOwners, status: 200 },
  'POST /workspaces/:id/groups': {
    needs: ['share-workspace'],
    may: fullOwners,
    status: 404,
    body: { group_id: NOBODY },
  },
  'DELETE /workspaces/:id/groups/:group_id': { needs: ['share-workspace'], may: fullOwners, status: 200 },
  'GET /workspaces/:id/roles': { needs: ['share-workspace'], may: fullOwners, status: 200 },
  'POST /workspaces/:id/roles/:role': {
    needs: ['share-workspace', 'share-advanced'],
    may: fullOwners,
    status: 400,
    body: toNobody,
  },
  'PATCH /workspaces/:id/roles': {
    needs: ['share-workspace', 'share-advanced'],
    may: fullOwners,
    status: 404,
    body: { ...toNobody, role: null },
  },
  'DELETE /workspaces/:id/roles/:role/:member_id': {
    needs: ['share-workspace', 'share-advanced'],
    may: fullOwners,
    status: 400,
  },
  'GET /workspaces/:id/acl': { needs: ['share-advanced'], may: fullOwners, status: 200 },
  'PUT /workspaces/:id/acl': { needs: ['share-advanced'], may: fullOwners, status: 422, body: [{}] },
}

describe('every call about a workspace', () => {
  let server: AccountsServer
  let workspaceId = ''
  const people = new Map<Persona, Person>()

  /** A workspace to which each persona is what it is called. */
  async function makeWorkspace(name: string, groupId: string): Promise<string> {
    const owner = as('owner')
    const id = field(await succeed(owner.post('/workspaces', { name })), 'id')
    for (const role of ['owners', 'collaborators', 'coders', 'spectators'] as const) {
      await succeed(owner.post(`/workspaces/${id}/roles/${role}`, { email: as(role).email }))
    }
    await succeed(owner.post(`/workspaces/${id}/members`, { email: as('shared with').email }))
    await succeed(owner.post(`/workspaces/${id}/groups`, { group_id: groupId }))
    return id
  }

  function as(persona: Persona): Person {
    const person = people.get(persona)
    if (!person) throw new Error(`nobody is ${persona}`)
    return person
  }

  let team = ''

  beforeAll(async () => {
    // More memory than any machine has: whoever may start it is told that there is too little.
    const env = { SVCD_ADMISSION_MEMORY_ENABLED: 'true', SVCD_ADMISSION_MEMORY_MARGIN: '1p' }
    server = await startAccounts({ env })
    for (const persona of PERSONAS) {
      const person = persona === 'administrator' ? server.admin : await server.person(persona.replaceAll(' ', '-'))
      people.set(persona, person)
    }
    team = field(await succeed(server.admin.post('/groups', { name: 'team' })), 'id')
    await succeed(server.admin.post(`/groups/${team}/members`, { user_id: as('in a group shared with').id }))
    workspaceId = await makeWorkspace('demo', team)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('has its row in this table', () => {
    const routes = server.app.routes
      .filter(({ path }) => path.startsWith(`${API_PREFIX}/workspaces`))
      .map(({ method, path }) => `${method} ${path.slice(API_PREFIX.length)}`)
    expect(routes.toSorted()).toEqual(Object.keys(TABLE).toSorted())
  })

  async function statusOf(person: Person, route: string, id: string): Promise<number> {
    const [method = '', path = ''] = route.split(' ')
    const url = `${API_PREFIX}${path.replace(':id', id).replaceAll(/:\w+/g, NOBODY)}`
    const body = TABLE[route]?.body
    const answer = await server.request(method, url, {
      headers: {
        authorization: `Bearer ${person.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return answer.status
  }

  test.each(Object.entries(TABLE))('%s is for whom it should be', async (route, { may, status, ends }) => {
    const got: Partial<Record<Persona, number>> = {}
    for (const persona of PERSONAS) {
      const id = ends && may.includes(persona) ? await makeWorkspace(`for ${persona}`, team) : workspaceId
      got[persona] = await statusOf(as(persona), route, id)
    }
    const expected = PERSONAS.map((persona) => [persona, may.includes(persona) ? status : 403])
    expect(got).toEqual(Object.fromEntries(expected))
  })

  const inWorkspace = Object.entries(TABLE).flatMap(([route, { needs, ...call }]) =>
    needs === undefined ? [] : [{ route, ...call, needs }],
  )

  test.each(inWorkspace)(
    '$route takes these permissions, and nothing else will do',
    async ({ route, status, needs }) => {
      const [owner, guest] = [as('owner'), as('stranger')]
      const id = field(await succeed(owner.post('/workspaces', { name: 'by permission' })), 'id')
      const statusWith = async (granted: readonly Permission[]) => {
        const grants = granted.map((permission) => ({ action: 1, principal_type: 1, user_id: guest.id, permission }))
        const own = { action: 1, principal_type: 1, user_id: owner.id, permission: '*' }
        await succeed(owner.put(`/workspaces/${id}/acl`, [own, ...grants]))
        return statusOf(guest, route, id)
      }
      const allBut = (missing: readonly Permission[]) =>
        permissions.filter((permission) => permission !== '*' && !missing.includes(permission))
      const [enough, tooLittle] =
        'anyOf' in needs
          ? [needs.anyOf.map((one) => [one]), [allBut(needs.anyOf)]]
          : [[needs], needs.map((one) => allBut([one]))]
      for (const granted of tooLittle) expect(await statusWith(granted)).toBe(403)
      for (const granted of enough) expect(await statusWith(granted)).toBe(status)
      await owner.delete(`/workspaces/${id}`)
    },
  )
})
