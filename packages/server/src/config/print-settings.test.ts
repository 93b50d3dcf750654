import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { load, writeTemporary } from '../testing/load-test-settings.ts'
import { printSettings } from './print-settings.ts'
import { settingRows } from './settings.ts'
import { settingsReference } from './settings-reference.ts'

describe('the printed settings', () => {
  test('have aligned columns that fit a wide terminal', async () => {
    const token = writeTemporary('token', 'hunter2')
    const { entries } = await load({ SVCD_METRICS_TOKEN: `file:${token}`, SVCD_PORT: '8080' })
    const lines = printSettings(entries).split('\n')
    expect(lines.every((line) => line.length <= 120)).toBe(true)
    const row = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.split(/ {2,}/)
    expect(row('SETTING')).toEqual(['SETTING', 'VALUE', 'SOURCE', 'DEFAULT', 'RELOAD'])
    expect(row('SVCD_PORT')).toEqual(['SVCD_PORT', '8080', 'environment', 'unset: no browser list…', 'restart'])
    expect(row('SVCD_METRICS_TOKEN')).toEqual([
      'SVCD_METRICS_TOKEN',
      '***',
      'environment*',
      'unset: loopback only',
      'live',
    ])
    expect(lines).toContain('* through a file: or cmd: reference')
  })

  test('show a long value in full, on a line of its own and without line breaks', async () => {
    const banner = 'For authorised people only.\nEverything is recorded.'
    const text = printSettings((await load({ SVCD_LOGIN_BANNER: banner })).entries)
    expect(text).toContain('\n  For authorised people only.\\nEverything is recorded.\n')
  })
})

describe('the settings reference', () => {
  test('on disk is what the rows say; if not, run scripts/print-reference.ts', () => {
    const page = new URL('../../../../docs/reference/settings.md', import.meta.url)
    expect(readFileSync(page, 'utf8')).toBe(settingsReference())
  })

  test('has a row of six cells for every setting', () => {
    const lines = settingsReference().split('\n')
    for (const { row } of settingRows) {
      const line = lines.find((text) => text.includes(row.env === undefined ? `\`${row.yaml}\`` : `\`${row.env}\``))
      expect(line?.split(/(?<!\\)\|/), row.name).toHaveLength(8)
    }
  })

  test('marks settings that have no effect yet', () => {
    expect(settingsReference()).toMatch(/`SVCD_FIPS_MODE`.*\*\*Planned\.\*\*/)
    expect(settingsReference()).not.toMatch(/`SVCD_LISTEN`.*Planned/)
  })
})
