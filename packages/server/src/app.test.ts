import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { needsInWords } from './http/openapi.ts'
import { startServer } from './testing/start-server.ts'

/** Changing this list is a security decision. */
const PUBLIC_ROUTES = [
  'GET /api/v1/auth/verify-workspace-token',
  'GET /api/v1/config',
  'GET /api/v1/openapi.json',
  'GET /api/v1/version',
  'GET /audit',
  'GET /empty',
  'GET /health',
  'POST /api/v1/auth/accept-invite',
  'POST /api/v1/auth/change-expired-password',
  'POST /api/v1/auth/forgot-password',
  'POST /api/v1/auth/local',
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/logout',
  'POST /api/v1/auth/refresh',
  'POST /api/v1/auth/register',
  'POST /api/v1/auth/resend-verification',
  'POST /api/v1/auth/reset-password',
  'POST /api/v1/auth/verify',
]

test('only these routes answer a caller who is not signed in', async () => {
  await using server = await startServer()
  const open = server.app.routes.filter((row) => needsInWords(row.needs).startsWith('anyone'))
  expect(open.map((row) => `${row.method} ${row.path}`).toSorted()).toEqual(PUBLIC_ROUTES)
})

test('beside the table only applications in workspaces are reached, and they judge for themselves', async () => {
  await using server = await startServer()
  expect(server.app.outsideTheTable.map(({ path }) => path)).toEqual(['/hosted/:workspace_id/:port/*'])
})

test('no two routes answer the same call, and each explains itself', async () => {
  await using server = await startServer()
  const calls = server.app.routes.map((row) => `${row.method} ${row.path}`)
  expect(new Set(calls).size).toBe(calls.length)
  for (const row of server.app.routes) expect(row.summary, row.path).toMatch(/^[A-Z].{8,}[^.]$/)
})

test('the table is published as a valid OpenAPI 3.1 document', async () => {
  await using server = await startServer()
  const document = (await server.request('GET', '/api/v1/openapi.json')).json as { paths: object; openapi: string }
  expect(document.openapi).toBe('3.1.0')
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
  const paths = new Set(server.app.routes.map((row) => row.path.replace(/:(\w+)/g, '{$1}')))
  expect(Object.keys(document.paths).toSorted()).toEqual([...paths].toSorted())
})

const watchNothing = { SVCD_MEMORY_WATCHDOG_ENABLED: 'no', SVCD_CPU_WATCHDOG_ENABLED: 'no' }
const plentyOfDisk = { SVCD_DISK_WATCHDOG_WARN_PERCENT: '99.8', SVCD_DISK_WATCHDOG_CRITICAL_PERCENT: '99.9' }
const shortOfDisk = { SVCD_DISK_WATCHDOG_WARN_PERCENT: '0.001', SVCD_DISK_WATCHDOG_CRITICAL_PERCENT: '0.002' }
const instance = '9d2c8f54-0c44-4f0e-9a3c-0a6d5f3b7a11'

test('GET /health says ok in two fields', async () => {
  await using server = await startServer({ ...watchNothing, ...plentyOfDisk })
  const answer = await server.request('GET', '/health')
  expect([answer.status, answer.json]).toEqual([200, { status: 'ok', instance }])
})

test('GET /health stays 200 when degraded and shows everything that is measured', async () => {
  await using server = await startServer({ ...watchNothing, ...shortOfDisk })
  const answer = await server.request('GET', '/health')
  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject({
    status: 'degraded',
    instance,
    detail: {
      filesystems: [{ path: expect.any(String), usage_percent: expect.any(Number), state: 'critical' }],
      memory: null,
      cpu: null,
      audit: false,
      last_poll: '2026-01-01T00:00:00+00:00',
    },
  })
})

test('an audit row that cannot be written degrades the server until the next window, and is counted for good', async () => {
  await using server = await startServer({ ...watchNothing, ...plentyOfDisk })
  await server.storage.close()
  await server.app.audit.recordOwn({ event: 'app.reload', targetType: 'app', targetId: instance, detail: {} })
  expect((await server.request('GET', '/health')).json).toMatchObject({ status: 'degraded', detail: { audit: true } })
  const status = { write_failures: 0, identity_write_failures: 1, fail_closed: false, forwarding: { enabled: false } }
  expect((await server.request('GET', '/audit')).json).toEqual(status)
  server.clock.advance(61_000)
  await expect.poll(async () => (await server.request('GET', '/health')).json).toMatchObject({ status: 'ok' })
  expect((await server.request('GET', '/audit')).json).toEqual(status)
})

test('GET /version tells the build', async () => {
  await using server = await startServer()
  expect((await server.request('GET', '/api/v1/version')).json).toEqual({
    version: '1.2.3',
    commit: 'abc1234',
    built_at: '2026-01-01T00:00:00Z',
    features: [],
  })
})

test('GET /config gives a visitor every field of the contract and nothing for signed-in callers', async () => {
  await using server = await startServer({
    SVCD_AUTH_MODES: 'password',
    SVCD_DEFAULT_PASSWORD: 'a password with 2 or 3 digits',
    SVCD_PRODUCT_NAME: 'Workbench',
    SVCD_LOGIN_BANNER: 'Authorised use only',
    SVCD_PASSWORD_REQUIRE_DIGIT: '2',
    SVCD_SUPPORT_EMAIL: 'help@example.com',
    SVCD_DISABLE_REGISTRATION: 'yes',
  })
  expect((await server.request('GET', '/api/v1/config')).json).toEqual({
    registration_enabled: false,
    invitations_enabled: true,
    product_name: 'Workbench',
    login_banner_title: '',
    login_banner: 'Authorised use only',
    login_banner_every_visit: false,
    oidc_providers: [],
    auth_modes: 'password',
    instance_id: instance,
    allow_autostart: false,
    browser_delegate_enabled: true,
    default_per_handle_home: false,
    default_classification_banner: '',
    min_password_length: 8,
    password_requirements: { upper: 0, lower: 0, digit: 2, special: 0 },
    password_history_count: 0,
    password_min_changed: 0,
    brand_color: '#E65100',
    logo_url: '',
    terms_url: '',
    privacy_url: '',
    aup_url: '',
    support_url: '',
    support_email: 'help@example.com',
    nix_available: false,
    sudo_available: true,
    per_handle_home_available: false,
  })
})

test('GET /empty is nothing, as text', async () => {
  await using server = await startServer()
  const answer = await server.request('GET', '/empty')
  expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([200, '', 'text/plain; charset=utf-8'])
  expect(answer.headers['content-length']).toBe('0')
})

test('GET /metrics counts requests by route and never by path', async () => {
  await using server = await startServer()
  await server.request('GET', '/api/v1/version')
  await server.request('GET', '/api/v1/no/such/person')
  const answer = await server.request('GET', '/metrics')
  expect(answer.headers['content-type']).toContain('text/plain')
  expect(answer.text).toContain(
    'svcd_http_request_duration_seconds_count{route="/api/v1/version",method="GET",status="200"} 1',
  )
  const spent = /duration_seconds_sum\{route="\/api\/v1\/version"[^}]*\} (\S+)/.exec(answer.text)?.[1]
  expect(Number(spent)).toBeGreaterThan(0)
  expect(answer.text).toContain('svcd_info{version="1.2.3",commit="abc1234"')
  expect(answer.text).not.toContain('such/person')
})

test('GET /metrics is for this machine, or for the bearer of the token', async () => {
  await using server = await startServer({ SVCD_METRICS_TOKEN: 'a-token-for-prometheus' })
  const from = (authorization?: string) =>
    server.request('GET', '/metrics', {
      headers: { 'x-forwarded-for': '203.0.113.9', ...(authorization ? { authorization } : {}) },
    })
  expect((await from()).status).toBe(403)
  expect((await from('Bearer wrong')).status).toBe(403)
  expect((await from('Bearer a-token-for-prometheus')).status).toBe(200)
})

test.each(['/version', '/config', '/api/v1/health', '/api/v1/admin/users'])('%s is not an address', async (path) => {
  await using server = await startServer()
  expect((await server.request('GET', path)).status).toBe(404)
})
