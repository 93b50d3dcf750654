import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { field } from '../testing/start-accounts.ts'
import { scratchFolder, startDaemon } from '../testing/start-daemon.ts'
import { rawRequest } from '../testing/start-http.ts'

// What only the real process shows: its files, its defaults, and what is left after it was killed.

const admin = { email: 'root@example.com', password: 'correct horse battery' }
const env = {
  SVCD_AUTH_MODES: 'password',
  SVCD_DEFAULT_USER: admin.email,
  SVCD_DEFAULT_PASSWORD: admin.password,
}

type Server = Awaited<ReturnType<typeof startDaemon>>

const login = (server: Server) =>
  server.request('POST', '/api/v1/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: admin.email, password: admin.password }),
  })

const me = (server: Server, token: string) =>
  server.request('GET', '/api/v1/auth/me', { headers: { authorization: `Bearer ${token}` } })

test('a session outlives a server that was killed', async () => {
  const folder = await scratchFolder()
  const first = await startDaemon(folder, env)
  const token = field(await login(first), 'access_token')
  first.daemon.kill('SIGKILL')
  await first.daemon.exit()
  const second = await startDaemon(folder, env)
  expect((await me(second, token)).json).toMatchObject({ email: admin.email })
})

test('what signs tokens is made once, is for the owner of the server only, and is never logged', async () => {
  const folder = await scratchFolder()
  const server = await startDaemon(folder, { ...env, SVCD_LOG_LEVEL: 'DEBUG' })
  const token = field(await login(server), 'access_token')
  const file = join(folder, 'state/jwt-secret')
  const secret = (await readFile(file, 'utf8')).trim()
  expect([(await stat(file)).mode & 0o777, secret.length >= 43]).toEqual([0o600, true])
  for (const hidden of [secret, token, admin.password]) expect(server.daemon.stderr).not.toContain(hidden)
})

test('a secret of the operator is used instead, and a reload with another one ends every session', async () => {
  const folder = await scratchFolder()
  const secretFile = join(folder, 'secret')
  await writeFile(secretFile, 'the first secret of the operator, 0123456789')
  const server = await startDaemon(folder, { ...env, SVCD_JWT_SECRET: `file:${secretFile}` })
  const token = field(await login(server), 'access_token')
  expect((await me(server, token)).status).toBe(200)
  await writeFile(secretFile, 'the second secret of the operator, 9876543210')
  server.daemon.kill('SIGHUP')
  await expect.poll(async () => (await me(server, token)).status).toBe(401)
})

test('a reload to a mode in which no administrator could sign in is refused', async () => {
  const folder = await scratchFolder()
  const server = await startDaemon(folder)
  await writeFile(join(folder, 'config/svcd.yaml'), 'auth_modes: password\n')
  server.daemon.kill('SIGHUP')
  await expect
    .poll(() => server.daemon.stderr)
    .toContain('SVCD_AUTH_MODES is password, and no administrator has a password')
  expect((await server.request('POST', '/api/v1/auth/local')).status).toBe(200)
})

test('passwords are kept as 600,000 rounds of PBKDF2 with SHA-512, and in no other form', async () => {
  const folder = await scratchFolder()
  await startDaemon(folder, env)
  const db = new DatabaseSync(join(folder, 'data/svc.db'), { readOnly: true })
  const row = db.prepare('SELECT password_hash FROM users WHERE email = ?').get(admin.email)
  db.close()
  expect(row?.password_hash).toMatch(/^pbkdf2-sha512\$600000\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{88}$/)
  const bytes = await readFile(join(folder, 'data/svc.db'))
  expect(bytes.includes(admin.password)).toBe(false)
})

test('on the private socket the machine itself signs in locally, and nobody a proxy speaks for', async () => {
  const folder = await scratchFolder()
  await startDaemon(folder)
  const local = (headers: Record<string, string>) =>
    rawRequest({ socketPath: join(folder, 'state/svcd.sock'), method: 'POST', path: '/api/v1/auth/local', headers })
  expect((await local({ host: 'localhost' })).status).toBe(200)
  for (const header of ['x-forwarded-for', 'x-forwarded-port', 'x-real-ip', 'cf-connecting-ip', 'via']) {
    expect((await local({ host: 'localhost', [header]: '203.0.113.7' })).status, header).toBe(403)
  }
  expect((await local({ host: 'svc.example.com' })).status).toBe(403)
})
