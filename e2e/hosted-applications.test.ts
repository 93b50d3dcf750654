import { once } from 'node:events'
import { createServer } from 'node:http'
import { scratchFolder } from '@svc/server/testing/start-daemon'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasChromium, useBrowser } from './browser.ts'
import { startCalmDaemon } from './calm-daemon.ts'

const openPage = useBrowser()

/** What a hosted page can do, written into it by its own scripts: classic, module, fetch, storage and our API. */
const PAGE = `<!doctype html><title>hosted</title><link rel="stylesheet" href="style.css">
<script type="module" src="module.js"></script>
<script>
  const api = new URLSearchParams(location.search).get('api')
  const outcome = async (work) => { try { return String(await work()) } catch (error) { return error.name } }
  window.results = Promise.all([
    outcome(async () => (await fetch('data', { method: 'POST' })).text()),
    outcome(() => (localStorage.setItem('a', 'kept'), localStorage.getItem('a'))),
    outcome(() => (document.cookie = 'mine=1', document.cookie)),
    outcome(async () => (await fetch(api + '/api/v1/auth/local', { method: 'POST' })).status),
    outcome(() => sessionStorage.getItem('secret')),
  ])
</script><p>shown</p>`

/** A workspace on the machine itself, so that an application in it is a server of this test. */
async function startHosting(env: Record<string, string> = {}) {
  const daemon = await startCalmDaemon(await scratchFolder(), {
    SVCD_ENGINE: 'local',
    SVCD_PORT_RANGE_START: String(30_000 + (process.pid % 2_000)),
    ...env,
  })
  const { access_token: token } = (await daemon.request('POST', '/api/v1/auth/local')).json as { access_token: string }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const call = async (path: string, body: object = {}) => {
    const answer = await daemon.request('POST', `/api/v1${path}`, { headers, body: JSON.stringify(body) })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const { id } = (await call('/workspaces', { name: 'a', egress_mode: 'allow' })).json as { id: string }
  await call(`/workspaces/${id}/start`)
  const granted = await call(`/workspaces/${id}/hosted-access`)
  const [first] = (granted.json as { ports: { port: number; url: string }[] }).ports
  if (!first) throw new Error('the workspace has no port')
  const asked: string[] = []
  const app = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    const isPage = request.url?.startsWith('/?')
    const type = request.url?.endsWith('.js')
      ? 'text/javascript'
      : request.url?.endsWith('.css')
        ? 'text/css'
        : 'text/plain'
    response.setHeader('content-type', isPage ? 'text/html' : type).end(isPage ? PAGE : '/* own */')
  })
  app.listen(first.port, '127.0.0.1')
  await once(app, 'listening')
  onTestFinished(() => {
    app.closeAllConnections()
    app.close()
  })
  const api = encodeURIComponent(daemon.url)
  return {
    ...daemon,
    id,
    port: first.port,
    asked,
    granted,
    address: `${first.url}${first.url.includes('?') ? '&' : '?'}api=${api}`,
    api,
  }
}

const resultsOf = (page: Page) => page.evaluate(() => Reflect.get(window, 'results') as Promise<string[]>)

describe.skipIf(!hasChromium)('a hosted application in a browser', () => {
  test('has an origin of its own on this machine: everything of its own works, and nothing of ours is reached', async () => {
    const hosting = await startHosting()
    const { page } = await openPage()
    await page.goto(`${hosting.url}/`)
    await page.evaluate(() => sessionStorage.setItem('secret', 'token'))
    await page.goto(hosting.address)
    expect(new URL(page.url()).hostname).toBe(`${hosting.id}.localhost`)
    expect(page.url()).not.toContain('svc-hosted-entry')
    expect(await resultsOf(page)).toEqual(['/* own */', 'kept', 'mine=1', 'TypeError', 'null'])
    await expect
      .poll(() => hosting.asked)
      .toEqual(expect.arrayContaining(['GET /', 'GET /style.css', 'GET /module.js', 'POST /data']))
  })

  test('is reached by the plain address too, once the browser was let in', async () => {
    const hosting = await startHosting()
    const { page } = await openPage()
    const [name = '', value = ''] = hosting.granted.headers['set-cookie']?.[0]?.split(';')[0]?.split('=') ?? []
    const path = `/hosted/${hosting.id}/${hosting.port}/`
    await page.context().addCookies([{ name, value, domain: '127.0.0.1', path: `/hosted/${hosting.id}/` }])
    await page.goto(`${hosting.url}${path}?api=${hosting.api}`)
    expect(new URL(page.url()).hostname).toBe(`${hosting.id}.localhost`)
    await page.getByText('shown').waitFor()
    const stranger = await openPage()
    await stranger.page.goto(`${hosting.url}${path}`)
    await stranger.page.getByRole('heading', { name: 'Not signed in' }).waitFor()
  })

  test('has none where the web interface is on the same host', async () => {
    const hosting = await startHosting({ SVCD_HOSTING_HOSTNAME: 'svc.example.com' })
    const { page } = await openPage()
    const [name = '', value = ''] = hosting.granted.headers['set-cookie']?.[0]?.split(';')[0]?.split('=') ?? []
    await page.context().addCookies([{ name, value, domain: '127.0.0.1', path: `/hosted/${hosting.id}/` }])
    await page.goto(`${hosting.url}/`)
    await page.evaluate(() => sessionStorage.setItem('secret', 'token'))
    await page.goto(`${hosting.url}/hosted/${hosting.id}/${hosting.port}/?api=`)
    await page.getByText('shown').waitFor()
    expect(await resultsOf(page)).toEqual(['TypeError', 'SecurityError', 'SecurityError', 'TypeError', 'SecurityError'])
  })
})
