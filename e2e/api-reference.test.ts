import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { scratchFolder } from '@svc/server/testing/start-daemon'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasChromium, useBrowser } from './browser.ts'
import { startCalmDaemon } from './calm-daemon.ts'
import { accessibilityProblems, chooseTheme, looks, sidewaysPx } from './looks.ts'

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly 'x-needs': string }>>
}

const openPage = useBrowser()
const index = (page: Page) => page.getByRole('navigation', { name: 'Operations' })
const entry = (page: Page, name: string) => index(page).getByRole('link', { name, exact: true })
const command = (page: Page) => page.getByRole('region', { name: 'Shell command' })

/** The reference at `route`, and the document it is printed from. */
async function openReference(route: string, options?: BrowserContextOptions) {
  const folder = await scratchFolder()
  const { url, request } = await startCalmDaemon(folder)
  const { page, problems } = await openPage(options)
  await page.goto(`${url}/#${route}`)
  const { text, json } = await request('GET', '/api/v1/openapi.json')
  const operations = Object.entries((json as OpenApi).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { 'x-needs': needs }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      // One that judges a token refuses who has none.
      callable: method === 'get' && !path.includes('{') && /^anyone(?!, judged)/.test(needs),
    })),
  )
  return { folder, url, page, problems, operations, document: text }
}

describe.skipIf(!hasChromium)('the API reference', () => {
  test('lists every operation the server describes', async () => {
    const { page, problems, operations } = await openReference('/api')
    await index(page).getByRole('link').first().waitFor()
    expect(await index(page).getByRole('link').count()).toBe(operations.length)
    for (const { name } of operations) expect(await entry(page, name).count(), name).toBe(1)
    await page.getByRole('status').getByText(`${operations.length} operations`).waitFor()
    expect(problems).toEqual([])
  })

  test('the filter leaves the operations in which every word occurs', async () => {
    const { page, problems, operations } = await openReference('/api')
    const filter = page.getByRole('searchbox', { name: 'Filter operations' })
    await filter.fill('get VERSION')
    await page.getByRole('status').getByText(`1 of ${operations.length} operations`).waitFor()
    expect(await index(page).getByRole('link').count()).toBe(1)
    await entry(page, 'GET /api/v1/version').waitFor()

    await filter.fill('no-such-word')
    await index(page).getByText('No operation matches “no-such-word”.').waitFor()

    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await expect.poll(() => index(page).getByRole('link').count()).toBe(operations.length)
    expect(problems).toEqual([])
  })

  test('an operation has an address of its own, and the back button leads away from it', async () => {
    const { url, page, problems } = await openReference('/api')
    await entry(page, 'GET /health').click()
    await page.getByRole('article').getByText('Who may call: anyone').waitFor()
    expect(page.url()).toBe(`${url}/#/api?op=get-/health`)
    await page.goBack()
    await page.getByRole('link', { name: 'Download openapi.json' }).waitFor()
    expect(problems).toEqual([])
  })

  test('a link to one operation shows it, marks it in the index and starts reading at its heading', async () => {
    const { page, problems } = await openReference('/api?op=get-/health')
    const heading = page.getByRole('heading', { level: 2, name: 'Whether the server is well' })
    await heading.waitFor()
    expect(await heading.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await page.locator('main [aria-current]').allInnerTexts()).toEqual([
      expect.stringMatching(/^GET\s\/health$/),
    ])
    expect(problems).toEqual([])
  })

  test('a link to an operation this server does not have says so and leads back', async () => {
    const { page, problems } = await openReference('/api?op=post-/api/v9/magic')
    await page.getByRole('region', { name: 'No such operation' }).getByText('post-/api/v9/magic').waitFor()
    await page.getByRole('link', { name: 'All operations' }).click()
    await page.getByRole('link', { name: 'Download openapi.json' }).waitFor()
    expect(problems).toEqual([])
  })

  test('the document can be downloaded', async () => {
    const { page, problems, document } = await openReference('/api')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download openapi.json' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('openapi.json')
    expect(await readFile(await download.path(), 'utf8')).toBe(document)
    expect(problems).toEqual([])
  })

  test('the example of every operation that anyone may call works when it is pasted into a shell', async () => {
    const { folder, page, operations } = await openReference('/api')
    const callable = operations.filter((operation) => operation.callable)
    expect(callable.length).toBeGreaterThan(4)
    for (const { name } of callable) {
      await entry(page, name).click()
      await page
        .getByRole('article')
        .getByText(name.split(' ')[1] ?? name, { exact: true })
        .waitFor()
      expect(await statusOf(await command(page).innerText(), folder), name).toBe('200')
    }
  })

  test('the example can be copied with one click', async () => {
    const { page, problems } = await openReference('/api?op=get-/health', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await command(page).innerText())
    expect(problems).toEqual([])
  })

  test.each(looks)('axe finds nothing in $theme at $width px', async ({ theme, viewport }) => {
    const { page, problems } = await openReference('/api', { viewport })
    await chooseTheme(page, theme)
    await entry(page, 'GET /metrics').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await entry(page, 'GET /metrics').click()
    await page.locator('summary', { hasText: '403' }).click()
    expect(await accessibilityProblems(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test.each(['/api', '/api?op=get-/api/v1/config', '/api?op=no-such-thing'])(
    '%s does not have to be pushed sideways at 360 px',
    async (route) => {
      const { page } = await openReference(route, { viewport: { width: 360, height: 740 } })
      await page.getByRole('region').first().waitFor()
      expect(await sidewaysPx(page)).toBe(0)
    },
  )
})

/** Runs the text just as it stands in the page. The settings of curl make it print the status last, and nothing else. */
async function statusOf(text: string, home: string): Promise<string | undefined> {
  await writeFile(join(home, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n%{http_code}"\n')
  const { stdout } = await promisify(execFile)('sh', ['-c', text], { env: { PATH: process.env.PATH, HOME: home } })
  return stdout.split('\n').at(-1)
}
