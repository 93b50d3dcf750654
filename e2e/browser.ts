import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, onTestFinished } from 'vitest'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Suites that need it are skipped where it is missing. */
export const hasChromium = existsSync(CHROMIUM)

export interface WatchedPage {
  readonly page: Page
  /** Whatever a developer would see in red: console errors, uncaught faults, refusals of the policy, failed requests. */
  readonly problems: readonly string[]
}

/** For the top of a file: its tests share one Chromium, and each page they open has a profile of its own. */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<WatchedPage> {
  let browser: Browser | undefined
  afterAll(() => browser?.close())
  return async (options) => {
    browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    return { page, problems: await watch(page) }
  }
}

async function watch(page: Page): Promise<readonly string[]> {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`))
  page.on('requestfailed', (request) => problems.push(`${request.failure()?.errorText}: ${request.url()}`))
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`)
  })
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`)
  })
  // Not every refusal is written to the console, for instance that of a policy which only reports.
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      // biome-ignore lint/suspicious/noConsole: it is the way out of the page
      console.error(`refused by ${violatedDirective}: ${blockedURI} ${sample}`),
    )
  })
  return problems
}
