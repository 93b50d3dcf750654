import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { load } from '../../testing/load-test-settings.ts'
import { type Check, ok, warning } from './check.ts'
import { findingsAsJson, printFindings } from './print-findings.ts'
import { runChecks } from './run-checks.ts'
import { TrialEngine } from './trial-engine.ts'

async function runAll(checks: readonly Check[], clock = new FakeClock()) {
  const { settings } = await load()
  const engine = new TrialEngine({ settings, environment: {} })
  return { findings: runChecks(checks, { settings, environment: {}, isRoot: true, engine }, clock), clock }
}

test('a check that throws is an error, and the others are made all the same', async () => {
  const { findings } = await runAll([
    { name: 'broken', run: async () => Promise.reject(new Error('no such file')) },
    { name: 'good', run: async () => ok('all is well') },
  ])
  expect(await findings).toEqual([
    { name: 'broken', level: 'error', text: 'the check failed: no such file' },
    { name: 'good', level: 'ok', text: 'all is well' },
  ])
})

test('a check that hangs is an error after its time', async () => {
  const { findings, clock } = await runAll([
    { name: 'slow', limitMs: 2000, run: () => new Promise(() => undefined) },
    { name: 'good', run: async () => ok('all is well') },
  ])
  clock.advance(2000)
  expect(await findings).toMatchObject([{ level: 'error', text: 'no answer within 2 seconds' }, { level: 'ok' }])
})

test('findings are printed in columns for people, and as JSON for programs', () => {
  const findings = [
    { name: 'clock', ...ok('right') },
    { name: 'long name', ...warning('odd', 'Do this.'), details: ['Know this.'] },
  ]
  expect(printFindings(findings)).toBe(
    [
      'ok       clock      right',
      'warning  long name  odd',
      '                    Know this.',
      '                    Do this.',
      '',
      '1 ok, 1 warning, 0 errors',
      '',
    ].join('\n'),
  )
  expect(JSON.parse(findingsAsJson(findings))).toEqual({ ok: 1, warnings: 1, errors: 0, checks: findings })
})
