import { type Permission, permissions } from '@svc/protocol/permissions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_PREFIX } from '../../kernel/route.ts'
import { allowOnly, makeWorkspace } from '../../testing/live-workspace.ts'
import { invitePersonas, PERSONAS, type Persona, type Personas } from '../../testing/personas.ts'
import { type AccountsServer, type Person, startAccounts } from '../../testing/start-accounts.ts'

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

  'POST /workspaces/:id/hosted-access': { needs: ['join-workspace'], may: visitors, status: 200 },

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
  let personas: Personas

  beforeAll(async () => {
    // More memory than any machine has: whoever may start it is told that there is too little.
    const env = { SVCD_ADMISSION_MEMORY_ENABLED: 'true', SVCD_ADMISSION_MEMORY_MARGIN: '1p' }
    server = await startAccounts({ env })
    personas = await invitePersonas(server)
    workspaceId = await personas.workspace()
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
      const id = ends && may.includes(persona) ? await personas.workspace() : workspaceId
      got[persona] = await statusOf(personas.as(persona), route, id)
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
      const [owner, guest] = [personas.as('owner'), personas.as('stranger')]
      const id = await makeWorkspace(owner)
      const statusWith = async (granted: readonly Permission[]) => {
        await allowOnly(owner, id, [[guest, granted]])
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
