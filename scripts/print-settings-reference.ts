/**
 * Writes docs/reference/settings.md from the settings table of the server.
 * With `--check` it writes nothing and fails when the page on disk is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { settingsReference } from '../packages/server/src/config/settings-reference.ts'

const page = new URL('../docs/reference/settings.md', import.meta.url)
const text = settingsReference()

if (!process.argv.includes('--check')) {
  writeFileSync(page, text)
} else if (readPage() !== text) {
  console.error('docs/reference/settings.md is out of date: run node scripts/print-settings-reference.ts')
  process.exitCode = 1
}

function readPage(): string | undefined {
  try {
    return readFileSync(page, 'utf8')
  } catch {
    // A missing page is as out of date as a page can be.
    return undefined
  }
}
