import { scratchFolder } from '@svc/server/testing/start-daemon'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasChromium, useBrowser } from './browser.ts'
import { SHORT_OF_DISK, startCalmDaemon } from './calm-daemon.ts'
import { accessibilityProblems, chooseTheme, looks, sidewaysPx } from './looks.ts'

/** Far more than the page waits between two looks at the server. */
const LATER_MS = 60_000

const healthy = (page: Page) => page.getByRole('status').getByText('The server is healthy')
const region = (page: Page, name: string) => page.getByRole('region', { name })

const openPage = useBrowser()

describe.skipIf(!hasChromium)('the status page', () => {
  test('tells a visitor what this server is, that it is well and how one signs in', async () => {
    const { url, request } = await startCalmDaemon(await scratchFolder())
    const { page, problems } = await openPage()
    await page.goto(url)
    await healthy(page).waitFor()
    const { instance } = (await request('GET', '/health')).json as { instance: string }
    await region(page, 'Server').getByText(instance).waitFor()
    await region(page, 'Server').getByText('whoever reaches this server is its local user').waitFor()
    await page.getByRole('heading', { level: 1, name: 'svc' }).waitFor()
    expect(await page.title()).toBe('svc – Status')
    expect(problems).toEqual([])
  })

  test('says so where people sign in with a password', async () => {
    const { url } = await startCalmDaemon(await scratchFolder(), {
      SVCD_AUTH_MODES: 'password',
      SVCD_DEFAULT_PASSWORD: 'correct horse battery',
    })
    const { page, problems } = await openPage()
    await page.goto(url)
    await region(page, 'Server').getByText('With a password').waitFor()
    expect(problems).toEqual([])
  })

  test('carries the name, the colour and the links of the installation', async () => {
    const { url } = await startCalmDaemon(await scratchFolder(), {
      SVCD_PRODUCT_NAME: 'Acme Forge',
      SVCD_BRAND_COLOR: '#336699',
      SVCD_SUPPORT_URL: 'https://help.example.com/',
      SVCD_TERMS_URL: 'https://example.com/terms',
    })
    const { page, problems } = await openPage()
    await page.goto(url)
    await page.getByRole('heading', { level: 1, name: 'Acme Forge' }).waitFor()
    expect(await page.title()).toBe('Acme Forge – Status')
    const mark = page.getByRole('link', { name: 'Acme Forge home' }).locator('rect')
    await expect.poll(() => mark.evaluate((tile) => getComputedStyle(tile).fill)).toBe('rgb(51, 102, 153)')
    const links = region(page, 'Links').getByRole('link')
    await expect.poll(() => links.allTextContents()).toEqual(['API reference', 'Support', 'Terms of use'])
    expect(await page.getByRole('banner').getByRole('link', { name: 'Support' }).getAttribute('href')).toBe(
      'https://help.example.com/',
    )
    expect(problems).toEqual([])
  })

  test('lists what is short when something is critical', async () => {
    const { url } = await startCalmDaemon(await scratchFolder(), SHORT_OF_DISK)
    const { page, problems } = await openPage()
    await page.goto(url)
    await page.getByRole('status').getByText('The server works, and something is critical').waitFor()
    const rows = page.getByRole('table', { name: 'What the server measured' }).getByRole('row')
    await rows
      .filter({ hasText: /\d+\.\d % used/ })
      .filter({ hasText: 'Critical' })
      .first()
      .waitFor()
    await rows.filter({ hasText: 'Audit log' }).filter({ hasText: 'OK' }).waitFor()
    expect(problems).toEqual([])
  })

  test('says that the server went away, and recovers by itself when it is back', async () => {
    const folder = await scratchFolder()
    const { daemon, url, port } = await startCalmDaemon(folder)
    const { page, problems } = await openPage()
    await page.clock.install()
    await page.goto(url)
    await healthy(page).waitFor()

    daemon.kill('SIGTERM')
    expect(await daemon.exit()).toBe(0)
    await page.clock.fastForward(LATER_MS)
    await page.getByRole('status').getByText('The server does not answer').waitFor()

    await startCalmDaemon(folder, { SVCD_PORT: String(port), SVCD_PRODUCT_NAME: 'Svc reborn' })
    await page.clock.fastForward(LATER_MS)
    await healthy(page).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Svc reborn' }).waitFor()
    expect(problems.filter((problem) => !problem.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
  })

  test('works below any address of the server', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page, problems } = await openPage()
    await page.goto(`${url}/some/where`)
    await healthy(page).waitFor()
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.getByRole('link', { name: 'GET /health' }).waitFor()
    expect(problems).toEqual([])
  })

  test('is one click away from a page that does not exist', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page, problems } = await openPage()
    await page.goto(`${url}/#/no/such/page`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByRole('link', { name: 'Go to the status page' }).click()
    await healthy(page).waitFor()
    expect(problems).toEqual([])
  })
})

describe.skipIf(!hasChromium)('the status page without a mouse, without eyes, on a small screen', () => {
  const LONG_NAME = 'Development-Workspaces-of-the-Department-for-Very-Long-Names'

  test('the Tab key reaches the skip link first, then every control in the order it is read', async () => {
    const { url } = await startCalmDaemon(await scratchFolder(), { SVCD_SUPPORT_URL: 'https://help.example.com/' })
    const { page } = await openPage()
    await page.goto(url)
    await region(page, 'Links').getByRole('link', { name: 'Support' }).waitFor()
    const stops: string[] = []
    for (let stop = await nextStop(page); stop !== undefined; stop = await nextStop(page)) stops.push(stop)
    expect(stops).toEqual(['Skip to content', 'svc home', 'Support', 'Dark', 'API reference', 'Support'])
  })

  test('the skip link appears with the focus and leads past the bar', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page } = await openPage()
    await page.goto(url)
    await healthy(page).waitFor()
    await page.keyboard.press('Tab')
    expect((await page.getByRole('link', { name: 'Skip to content' }).boundingBox())?.y).toBeGreaterThanOrEqual(0)
    await page.keyboard.press('Enter')
    expect(await nextStop(page)).toBe('API reference')
  })

  test.each(looks)('axe finds nothing in $theme at $width px, well or not', async ({ theme, viewport }) => {
    const { page, problems } = await openPage({ viewport })
    for (const env of [{}, SHORT_OF_DISK]) {
      const { url } = await startCalmDaemon(await scratchFolder(), env)
      await page.goto(url)
      await chooseTheme(page, theme)
      await page.getByText('Last answer').waitFor()
      await region(page, 'Build').getByText('Version').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
    }
    expect(problems).toEqual([])
  })

  test('nothing has to be pushed sideways at 360 px, whatever the names', async () => {
    const { url } = await startCalmDaemon(await scratchFolder(), { ...SHORT_OF_DISK, SVCD_PRODUCT_NAME: LONG_NAME })
    const { page } = await openPage({ viewport: { width: 360, height: 740 } })
    await page.goto(url)
    await page.getByRole('heading', { name: LONG_NAME }).waitFor()
    await page.getByRole('table').waitFor()
    expect(await sidewaysPx(page)).toBe(0)
  })
})

/** Presses Tab and names what has the focus then; undefined when it left the page. */
async function nextStop(page: Page): Promise<string | undefined> {
  await page.keyboard.press('Tab')
  return page.evaluate(() => {
    const focused = document.activeElement
    return focused && focused !== document.body ? (focused.ariaLabel ?? focused.textContent) : undefined
  })
}
