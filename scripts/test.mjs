// `npm test`: prepares the machine, then checks, then every test there is. The last line counts them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from './check.mjs'
import {
  ensureAgent,
  ensureDependencies,
  ensurePrograms,
  ensureWebUi,
  ensureWorkspaceImage,
  node,
  root,
  run,
} from './setup.mjs'

const filters = process.argv.slice(2)
await ensureDependencies()
const missing = await ensurePrograms()
await ensureAgent()
await ensureWebUi()
const noImage = await ensureWorkspaceImage()
const checks = await check()
const tests = await runTests()

if (missing.length > 0) console.log(`Not on this machine, so their tests were skipped: ${missing.join(', ')}`)
if (noImage) console.log(`There is no workspace image, so tests that need it were skipped: ${noImage}`)
for (const name of tests.skippedNames) console.log(`skipped: ${name}`)
const failed = checks.failed + tests.failed
console.log(`${checks.passed + tests.passed} passed, ${failed} failed, ${tests.skippedNames.length} skipped`)
process.exit(failed === 0 ? 0 : 1)

/** A run that breaks before it can count counts as one failure. */
async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const outputFile = join(folder, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${outputFile}`]
  const code = await run(node, [vitest, 'run', ...reporters, ...filters])
  try {
    const report = JSON.parse(readFileSync(outputFile, 'utf8'))
    const skippedNames = report.testResults
      .flatMap((file) => file.assertionResults)
      .filter((result) => result.status === 'pending' || result.status === 'skipped' || result.status === 'todo')
      .map((result) => result.fullName)
    const failed = report.numFailedTests + (code !== 0 && report.numFailedTests === 0 ? 1 : 0)
    return { passed: report.numPassedTests, failed, skippedNames }
  } catch {
    return { passed: 0, failed: 1, skippedNames: [] }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
