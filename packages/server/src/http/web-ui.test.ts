import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route } from '../kernel/route.ts'
import { startHttp } from '../testing/start-http.ts'

let dir: string
const pageText = '<!doctype html><head><meta name="nonce" content="__SVC_STYLE_NONCE__"><title>UI</title>'

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-web-ui-'))
  await mkdir(join(dir, 'ui/assets'), { recursive: true })
  await writeFile(join(dir, 'ui/index.html'), pageText)
  await writeFile(join(dir, 'ui/assets/app-1a2b3c.js'), 'console.log("ui")')
  await writeFile(join(dir, 'ui/assets/app-1a2b3c.js.br'), 'packed')
  await writeFile(join(dir, 'ui/icon.svg'), '<svg/>')
  await writeFile(join(dir, 'ui/.env'), 'SECRET=1')
  await writeFile(join(dir, 'outside.txt'), 'not yours')
})
afterAll(() => rm(dir, { recursive: true }))

const version = route({
  method: 'GET',
  path: '/version',
  tag: 'Test',
  summary: 'Test',
  needs: 'anyone',
  reply: z.object({ ok: z.boolean() }),
  handle: () => ({ ok: true }),
})
const start = () => startHttp({ routes: [version], settings: { frontendDir: join(dir, 'ui') } })
const browser = { accept: 'text/html,application/xhtml+xml' }

test('the page comes with a strict policy and a nonce of its own each time', async () => {
  await using http = await start()
  const [first, second] = [await http.request('GET', '/'), await http.request('GET', '/')]
  const nonce = /content="([^"]+)"/.exec(first.text)?.[1]
  expect(first.headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonce}'`)
  expect(first.headers['content-security-policy']).toContain("script-src 'self';")
  expect(first.headers['x-frame-options']).toBe('DENY')
  expect(first.headers['cache-control']).toContain('no-store')
  expect(second.text).not.toBe(first.text)
})

test('further origins may be allowed to connect, reduced to their origin', async () => {
  await using http = await start()
  http.set({ cspConnectOrigins: ['wss://relay.example.com:8443/path?x=1'] })
  const policy = (await http.request('GET', '/')).headers['content-security-policy']
  expect(policy).toContain("connect-src 'self' wss://relay.example.com:8443;")
})

test('a logo that lies elsewhere may be shown', async () => {
  await using http = await start()
  http.set({ logoUrl: 'https://brand.example.com/logo.svg' })
  const policy = (await http.request('GET', '/')).headers['content-security-policy']
  expect(policy).toContain("img-src 'self' data: blob: https://brand.example.com;")
})

test('a hashed asset may be kept for a year', async () => {
  await using http = await start()
  const asset = await http.request('GET', '/assets/app-1a2b3c.js')
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(asset.headers['content-type']).toContain('javascript')
})

test('the packed form of an asset is sent to those who can read it', async () => {
  await using http = await start()
  const asset = await http.request('GET', '/assets/app-1a2b3c.js', { headers: { 'accept-encoding': 'br' } })
  expect([asset.headers['content-encoding'], asset.text]).toEqual(['br', 'packed'])
})

test('a file without a digest in its name is asked for again, and 304 saves the bytes', async () => {
  await using http = await start()
  const icon = await http.request('GET', '/icon.svg')
  expect(icon.headers['cache-control']).toBe('public, max-age=0')
  const again = await http.request('GET', '/icon.svg', { headers: { 'if-none-match': icon.headers.etag ?? '' } })
  expect([again.status, again.text]).toEqual([304, ''])
})

test.each(['/workspaces', '/deep/link'])('%s is the page for a browser', async (path) => {
  await using http = await start()
  expect((await http.request('GET', path, { headers: browser })).text).toContain('<title>UI</title>')
})

test.each([
  '/api',
  '/api/v1/nothing',
  '/api/v2/x',
  '/ws/unknown',
  '/hosted/x',
  '/llm-proxy/x',
  '/health/x',
  '/metrics/x',
])('%s is never the page, even for a browser', async (path) => {
  await using http = await start()
  const answer = await http.request('GET', path, { headers: browser })
  expect([answer.status, answer.json]).toMatchObject([404, { detail: 'Not Found' }])
})

test('a program that asks for no page gets 404, and so does a missing file', async () => {
  await using http = await start()
  expect((await http.request('GET', '/deep/link', { headers: { accept: 'application/json' } })).status).toBe(404)
  expect((await http.request('GET', '/assets/gone.js', { headers: browser })).status).toBe(404)
  expect((await http.request('POST', '/', { headers: browser })).status).toBe(404)
})

test.each(['/../outside.txt', '/%2e%2e/outside.txt', '/assets/..%2f..%2foutside.txt', '/.env', '/assets/%00.js'])(
  '%s does not leave the folder of the UI',
  async (path) => {
    await using http = await start()
    const answer = await http.request('GET', path, { headers: browser })
    expect(answer.text).not.toMatch(/not yours|SECRET/)
    expect(answer.status).toBeLessThan(500)
  },
)

test('the page finds its files from any address, also below the path a proxy offers it at', async () => {
  await using http = await start()
  expect((await http.request('GET', '/deep/link', { headers: browser })).text).toContain('<base href="/">')
  const forwarded = { ...browser, 'x-forwarded-prefix': '/svc' }
  expect((await http.request('GET', '/', { headers: forwarded })).text).toContain('<base href="/svc/">')
})

test('nobody learns from the answer whether a file is elsewhere on the machine', async () => {
  await using http = await start()
  for (const path of ['/../outside.txt', '/../nowhere.txt', '/../../../../etc/resolv.conf', '/.vite/manifest.json']) {
    expect((await http.request('GET', path)).status, path).toBe(404)
  }
})

test('conditions and ranges that do not fit are no fault of ours', async () => {
  await using http = await start()
  const asset = '/assets/app-1a2b3c.js'
  expect((await http.request('GET', asset, { headers: { 'if-match': '"other"' } })).status).toBe(409)
  expect((await http.request('GET', asset, { headers: { range: 'bytes=9999-' } })).status).toBe(200)
})

test('an encoded address of the API is not the page', async () => {
  await using http = await start()
  expect((await http.request('GET', '/%61pi/v1/nothing', { headers: browser })).status).toBe(404)
})

test('a new build is served without a restart', async () => {
  await using http = await start()
  await http.request('GET', '/')
  await writeFile(join(dir, 'ui/index.html'), `${pageText}<p>second build</p>`)
  await expect.poll(async () => (await http.request('GET', '/')).text).toContain('second build')
})

test('without a built UI the API answers alone', async () => {
  await using http = await startHttp({ routes: [version] })
  expect((await http.request('GET', '/', { headers: browser })).status).toBe(404)
  expect((await http.request('GET', '/api/v1/version')).status).toBe(200)
})
