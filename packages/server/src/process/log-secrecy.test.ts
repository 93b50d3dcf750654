import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder, startDaemon } from '../testing/start-daemon.ts'

const part = (text: string) => Buffer.from(text).toString('base64url')
const jwt = (name: string) => `${part('{"alg":"HS256"}')}.${part(`{"sub":"${name}"}`)}.${part(`tag of ${name}`)}`

const secrets = {
  session: jwt('session'),
  proof: jwt('proof'),
  link: jwt('link'),
  password: 'correct-horse-battery-staple',
  signingKey: 'a-signing-key-of-more-than-32-characters',
  metricsToken: 'a-metrics-token-for-the-test',
  loginCode: 'bG9naW4tY29kZS1vZi10aGUtdGVzdA',
}

test('whatever is sent to whichever route, no secret reaches the log', async () => {
  const folder = await scratchFolder()
  const logFile = join(folder, 'svcd.log')
  const { daemon, request } = await startDaemon(folder, {
    SVCD_LOG_LEVEL: 'DEBUG',
    SVCD_LOG_FILE: logFile,
    SVCD_JWT_SECRET: secrets.signingKey,
    SVCD_METRICS_TOKEN: secrets.metricsToken,
  })
  const { paths } = (await request('GET', '/api/v1/openapi.json')).json as { paths: Record<string, object> }
  const addresses = [...Object.keys(paths), '/api/v1/auth/login', '/api/v1/no/such/route', '/ws', '/']
  const query = `?token=${secrets.link}&code=${secrets.loginCode}&dpop=${secrets.proof}&password=${secrets.password}`
  const headers = {
    authorization: `Bearer ${secrets.session}`,
    dpop: secrets.proof,
    cookie: `oidc_corp=${secrets.loginCode}`,
    'sec-websocket-protocol': `bearer, ${secrets.session}`,
    'user-agent': `agent ${secrets.session}`,
    referer: `https://example.com/#/verify?token=${secrets.link}`,
    'content-type': 'application/json',
    'x-forwarded-for': secrets.password,
  }
  for (const path of addresses) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = JSON.stringify({ password: secrets.password, token: secrets.link })
      await request(method, path + query, { headers, ...(method === 'GET' ? {} : { body }) })
    }
    await request('POST', path, { headers, body: `{"password": "${secrets.password}` }) // malformed
    await request('GET', `${path}/%zz${query}`, { headers })
  }
  daemon.kill('SIGHUP')
  await expect.poll(() => daemon.stderr).toContain('reloaded')
  daemon.kill('SIGTERM')
  expect(await daemon.exit()).toBe(0)
  const written = daemon.stdout + daemon.stderr + (await readFile(logFile, 'utf8'))
  expect(written.split('\n').length).toBeGreaterThan(2 * 7 * addresses.length)
  for (const [name, secret] of Object.entries(secrets)) expect(written.includes(secret), name).toBe(false)
})

test('the log file holds JSON with the keys of the contract', async () => {
  const folder = await scratchFolder()
  const logFile = join(folder, 'svcd.log')
  const { daemon, request } = await startDaemon(folder, { SVCD_LOG_FILE: logFile })
  const answer = await request('GET', '/api/v1/version')
  daemon.kill('SIGTERM')
  await daemon.exit()
  const lines = (await readFile(logFile, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { instance } = lines[0]
  expect(instance).toMatch(/^[0-9a-f-]{36}$/)
  const access = lines.find((line) => line.logger === 'access')
  expect(access).toMatchObject({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: 'INFO',
    message: 'GET /api/v1/version 200',
    host: expect.any(String),
    instance,
    request_id: answer.headers['x-request-id'],
  })
})
