import { scratchFolder } from '@svc/server/testing/start-daemon'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasChromium, useBrowser } from './browser.ts'
import { startCalmDaemon } from './calm-daemon.ts'
import { chooseTheme } from './looks.ts'

const openPage = useBrowser()
const shownTheme = (page: Page) => page.locator('html').getAttribute('data-mantine-color-scheme')
const healthy = (page: Page) => page.getByText('The server is healthy')

describe.skipIf(!hasChromium)('the theme', () => {
  test('is dark until one chooses another, and the choice is remembered', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page, problems } = await openPage({ colorScheme: 'light' })
    await page.goto(url)
    await healthy(page).waitFor()
    expect(await shownTheme(page)).toBe('dark')
    await chooseTheme(page, 'Light')
    expect(await shownTheme(page)).toBe('light')
    await page.reload()
    await healthy(page).waitFor()
    expect(await page.getByRole('radio', { name: 'Light' }).isChecked()).toBe(true)
    expect(await shownTheme(page)).toBe('light')
    expect(problems).toEqual([])
  })

  test('is there before the application is, so that a light page never flashes dark', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page } = await openPage()
    await page.goto(url)
    await chooseTheme(page, 'Light')
    await page.route('**/assets/index-*.js', (route) => route.abort())
    await page.reload()
    expect(await page.getByRole('radio').count()).toBe(0)
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(244, 246, 248)')
  })

  test('can follow the system', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page } = await openPage({ colorScheme: 'light' })
    await page.goto(url)
    await chooseTheme(page, 'System')
    await expect.poll(() => shownTheme(page)).toBe('light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => shownTheme(page)).toBe('dark')
  })

  test('the arrow keys change the theme', async () => {
    const { url } = await startCalmDaemon(await scratchFolder())
    const { page } = await openPage()
    await page.goto(url)
    await page.getByRole('radio', { name: 'Dark' }).focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => shownTheme(page)).toBe('light')
  })
})
