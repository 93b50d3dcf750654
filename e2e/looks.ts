import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Everyone meets one of these: both themes, on a desk and in a hand. */
export const looks = (['Dark', 'Light'] as const).flatMap((theme) =>
  [1280, 390].map((width) => ({ theme, width, viewport: { width, height: 800 } })),
)

export async function chooseTheme(page: Page, theme: 'Dark' | 'Light' | 'System'): Promise<void> {
  await page.getByRole('radio', { name: theme }).check()
}

/** What axe holds against the page as it is now: the rule and the place. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => window.axe.run())
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  )
}

/** How far the page can be pushed sideways. */
export function sidewaysPx(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

declare global {
  interface Window {
    readonly axe: typeof axe
  }
}
