import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_PREFIX } from './kernel/route.ts'
import { type AccountsServer, field, PASSWORD, startAccounts, succeed } from './testing/start-accounts.ts'

// Every call is made with a session of its own: some of them end it.

/**
 * Who gets which answer from every route there is: a stranger, an ordinary member, a delegate who may manage users and
 * nothing else, an administrator, somebody whose account is disabled, and somebody who must change the password.
 */
const PERSONAS = ['stranger', 'member', 'delegate', 'admin', 'disabled', 'due'] as const
type Persona = (typeof PERSONAS)[number]
type Statuses = Readonly<Record<Persona, number>>

/** Whoever may call it gets `status`. */
const anyone = (status = 200): Statuses => ({
  stranger: status,
  member: status,
  delegate: status,
  admin: status,
  disabled: status,
  due: status,
})
const signedIn = (status = 200): Statuses => ({ ...anyone(status), stranger: 401, disabled: 403, due: 403 })
const admins = (status = 200): Statuses => ({ ...signedIn(status), member: 403, delegate: 403 })
const manageUsers = (status = 200): Statuses => ({ ...admins(status), delegate: status })

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

interface Call {
  readonly query?: string
  /** A request that is well-formed and changes nothing, so that the rows do not depend on each other. */
  readonly body?: unknown
  readonly statuses: Statuses
}

/** Nobody was granted anything on a workspace that does not exist, administrators neither. */
const WORKSPACE_ROUTES: Readonly<Record<string, Call>> = Object.fromEntries(
  [
    'PUT /api/v1/workspaces/:id',
    'DELETE /api/v1/workspaces/:id',
    'PATCH /api/v1/workspaces/:id/settings',
    'POST /api/v1/workspaces/:id/duplicate',
    'POST /api/v1/workspaces/:id/transfer',
    'GET /api/v1/workspaces/:id/export',
    'GET /api/v1/workspaces/:id/files',
    'GET /api/v1/workspaces/:id/files/content',
    'GET /api/v1/workspaces/:id/files/download',
    'POST /api/v1/workspaces/:id/files/upload',
    'POST /api/v1/workspaces/:id/files/rename',
    'POST /api/v1/workspaces/:id/files/directory',
    'DELETE /api/v1/workspaces/:id/files',
    'GET /api/v1/workspaces/:id/status',
    'POST /api/v1/workspaces/:id/start',
    'POST /api/v1/workspaces/:id/stop',
    'POST /api/v1/workspaces/:id/restart',
    'POST /api/v1/workspaces/:id/hosted-access',
    'GET /api/v1/workspaces/:id/acl',
    'PUT /api/v1/workspaces/:id/acl',
    'GET /api/v1/workspaces/:id/groups',
    'POST /api/v1/workspaces/:id/groups',
    'DELETE /api/v1/workspaces/:id/groups/:group_id',
    'GET /api/v1/workspaces/:id/members',
    'POST /api/v1/workspaces/:id/members',
    'DELETE /api/v1/workspaces/:id/members/:member_id',
    'GET /api/v1/workspaces/:id/roles',
    'POST /api/v1/workspaces/:id/roles/:role',
    'PATCH /api/v1/workspaces/:id/roles',
    'DELETE /api/v1/workspaces/:id/roles/:role/:member_id',
  ].map((route) => [route, { statuses: signedIn(403) }]),
)

const TABLE: Readonly<Record<string, Call>> = {
  'GET /health': { statuses: anyone() },
  'GET /audit': { statuses: anyone() },
  'GET /empty': { statuses: anyone() },
  'GET /metrics': { statuses: anyone() }, // asked on the machine itself
  'GET /api/v1/version': { statuses: anyone() },
  'GET /api/v1/openapi.json': { statuses: anyone() },
  'GET /api/v1/config': { statuses: { ...anyone(), disabled: 403, due: 403 } },

  'POST /api/v1/auth/login': { body: { identifier: 'nobody', password: 'wrong' }, statuses: anyone(401) },
  'POST /api/v1/auth/local': { statuses: anyone(403) },
  'POST /api/v1/auth/register': { body: { email: 'nobody', password: PASSWORD }, statuses: anyone(400) },
  'POST /api/v1/auth/verify': { body: { token: 'nonsense' }, statuses: anyone(400) },
  'POST /api/v1/auth/resend-verification': {
    body: { email: 'nobody@example.com', password: 'wrong' },
    statuses: anyone(401),
  },
  'POST /api/v1/auth/forgot-password': { body: {}, statuses: anyone(422) },
  'POST /api/v1/auth/reset-password': { body: { token: 'nonsense', password: PASSWORD }, statuses: anyone(400) },
  'POST /api/v1/auth/accept-invite': { body: { token: 'nonsense', password: PASSWORD }, statuses: anyone(400) },
  'POST /api/v1/auth/change-expired-password': {
    body: { identifier: 'nobody', current_password: 'wrong', new_password: PASSWORD },
    statuses: anyone(401),
  },
  'POST /api/v1/auth/refresh': { statuses: { ...anyone(), stranger: 401, disabled: 403 } },
  'POST /api/v1/auth/logout': { statuses: anyone() },
  'POST /api/v1/auth/change-password': {
    body: { current_password: 'wrong', new_password: PASSWORD },
    statuses: { ...signedIn(401), due: 401 },
  },
  'POST /api/v1/auth/change-email': { body: { email: 'x@example.com', password: 'wrong' }, statuses: signedIn(401) },
  'POST /api/v1/auth/change-handle': { body: { handle: 'x', password: 'wrong' }, statuses: signedIn(401) },
  'GET /api/v1/auth/me': { statuses: signedIn() },
  'GET /api/v1/my-permissions': { statuses: signedIn() },

  'GET /api/v1/users': { statuses: manageUsers() },
  'POST /api/v1/users': { body: { email: 'nobody', password: PASSWORD }, statuses: manageUsers(400) },
  'PATCH /api/v1/users/:id': { body: { disabled: true }, statuses: manageUsers(404) },
  'DELETE /api/v1/users/:id': { statuses: manageUsers(404) },
  'POST /api/v1/users/:id/unlockout': { statuses: manageUsers(404) },
  'GET /api/v1/users/:id/sessions': { statuses: manageUsers(404) },
  'GET /api/v1/users/:id/workspaces': { statuses: manageUsers(404) },
  'GET /api/v1/users/search': { query: 'q=a', statuses: signedIn() },

  'GET /api/v1/groups': { statuses: signedIn() },
  'POST /api/v1/groups': { body: { name: 'admins' }, statuses: admins(409) },
  'PATCH /api/v1/groups/:id': { body: { name: 'x' }, statuses: admins(404) },
  'DELETE /api/v1/groups/:id': { statuses: admins(404) },
  'GET /api/v1/groups/:id/members': { statuses: admins(404) },
  'POST /api/v1/groups/:id/members': { body: { user_id: NOBODY }, statuses: admins(404) },
  'DELETE /api/v1/groups/:id/members/:user_id': { statuses: admins(404) },

  'GET /api/v1/invitations': { statuses: admins() },
  'POST /api/v1/invitations': { body: { email: 'nobody' }, statuses: admins(400) },
  'POST /api/v1/invitations/:id/resend': { statuses: admins(404) },
  'DELETE /api/v1/invitations/:id': { statuses: admins(404) },

  'GET /api/v1/acl/by-principal/user/:id': { statuses: admins() },
  'GET /api/v1/acl/by-principal/group/:id': { statuses: admins() },
  'GET /api/v1/acl/tree': { statuses: admins() },
  'GET /api/v1/acl/resource': { query: 'resource=/users', statuses: admins() },
  'PUT /api/v1/acl/resource': { query: 'resource=/nowhere', body: [], statuses: admins(400) },

  'GET /api/v1/events/audit': { statuses: admins() },
  'GET /api/v1/events/containers': { statuses: admins() },

  'GET /api/v1/images': { statuses: signedIn() },
  'GET /api/v1/volumes': { statuses: admins() },
  'POST /api/v1/volumes': { body: { name: 'x', workspace: NOBODY }, statuses: admins(404) },
  'DELETE /api/v1/volumes/:name': { statuses: admins(503) }, // no engine answers here

  'GET /api/v1/workspaces': { statuses: signedIn() },
  'GET /api/v1/workspaces/shared': { statuses: signedIn() },
  'POST /api/v1/workspaces': { body: {}, statuses: signedIn(422) },
  'POST /api/v1/workspaces/import': { body: {}, statuses: signedIn(415) },
  ...WORKSPACE_ROUTES,
  'GET /api/v1/auth/verify-workspace-token': { statuses: anyone(401) }, // of a workspace, not of a person
}

describe('every route', () => {
  let server: AccountsServer
  const tokens = new Map<Persona, () => Promise<string | undefined>>()

  beforeAll(async () => {
    server = await startAccounts({ env: { SVCD_LOGIN_LOCKOUT_FAILURES: '0' } })
    const { admin } = server
    const helpdesk = field(await succeed(admin.post('/groups', { name: 'helpdesk' })), 'id')
    const entries = (await succeed(admin.get('/acl/resource?resource=/users'))).json as object[]
    const allow = { action: 1, principal_type: 2, permission: 'manage-users', group_id: helpdesk }
    await succeed(admin.put('/acl/resource?resource=/users', [allow, ...entries]))

    const freshToken = (email: string) => async () => (await server.signIn(email, PASSWORD)).token
    const disabled = await server.person('disabled')
    const setDisabled = (value: boolean) => succeed(admin.patch(`/users/${disabled.id}`, { disabled: value }))
    const due = await server.person('due')
    await succeed(admin.patch(`/users/${due.id}`, { must_change_password: true }))
    await server.person('member')
    await server.person('delegate', { groups: ['helpdesk'] })
    tokens.set('stranger', async () => undefined)
    tokens.set('member', freshToken('member@example.com'))
    tokens.set('delegate', freshToken('delegate@example.com'))
    tokens.set('admin', async () => (await server.signIn(admin.email, admin.password)).token)
    tokens.set('disabled', async () => {
      await setDisabled(false)
      const { token } = await server.signIn('disabled@example.com', PASSWORD)
      await setDisabled(true)
      return token
    })
    tokens.set('due', freshToken('due@example.com'))
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('has its row in this table', () => {
    const routes = server.app.routes.map(({ method, path }) => `${method} ${path}`)
    expect(routes.toSorted()).toEqual(Object.keys(TABLE).toSorted())
  })

  test.each(Object.entries(TABLE))('%s answers each as it should', async (route, call) => {
    const [method = '', path = ''] = route.replaceAll(/:\w+/g, NOBODY).split(' ')
    const url = call.query === undefined ? path : `${path}?${call.query}`
    const got: Partial<Record<Persona, number>> = {}
    for (const persona of PERSONAS) {
      const token = await tokens.get(persona)?.()
      const answer = await server.request(method, url, {
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      })
      got[persona] = answer.status
    }
    expect(got).toEqual(call.statuses)
  })

  test('asks who is calling before it looks at what was sent', async () => {
    const guarded = server.app.routes.filter(
      ({ needs, path }) => (needs === 'signed in' || typeof needs === 'object') && path.startsWith(API_PREFIX),
    )
    const member = server.as(await tokens.get('member')?.())
    for (const { method, path, needs } of guarded.filter(({ method }) => method !== 'GET')) {
      const url = path.replaceAll(/:\w+/g, NOBODY)
      const options = { headers: { 'content-type': 'application/json' }, body: '{"nonsense": 7}' }
      expect((await server.request(method, url, options)).status, `${method} ${url}`).toBe(401)
      if (typeof needs === 'string' || TABLE[`${method} ${path}`]?.statuses.member !== 403) continue
      const call = member[method.toLowerCase() as 'post']
      expect((await call(url.slice(API_PREFIX.length), { nonsense: 7 })).status, `${method} ${url}`).toBe(403)
    }
  })
})
