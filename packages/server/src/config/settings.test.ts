import { describe, expect, test } from 'vitest'
import { planned } from './planned.ts'
import { settingRows } from './settings.ts'

const rows = settingRows.map(({ row }) => row)

describe('the table of settings', () => {
  test.each(['name', 'yaml'] as const)('no two rows share a %s', (field) => {
    const values = rows.flatMap((row) => row[field] ?? [])
    expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([])
  })

  test.each(rows.map((row) => [row.name, row] as const))('%s has a sentence for the operator', (_, row) => {
    expect(row.doc).toMatch(/^[A-Z].*\.$/)
    expect(row.type).not.toBe('')
  })

  test('every default is a value the row itself accepts', async () => {
    const places = { configDir: '/c', stateDir: '/s', osUser: 'ann' }
    const context = { home: '/', baseDir: '/', readReference: () => Promise.reject(new Error('none')), warn: () => {} }
    for (const row of rows) {
      const value = row.defaultValue(places)
      const scalar = ['string', 'number', 'boolean'].includes(typeof value) && value !== ''
      if (scalar) expect(await row.parse(String(value), context), row.name).toBe(value)
    }
  })

  test('only what the server opens once needs a restart', () => {
    expect(rows.filter((row) => row.reload === 'restart').map((row) => row.name)).toEqual([
      'SVCD_STATE_DIR',
      'SVCD_DATA_DIR',
      'SVCD_CONFIG_DIR',
      'SVCD_LISTEN',
      'SVCD_PORT',
      'SVCD_SOCKET',
      'SVCD_WEBSOCKET_MSG_SIZE_MAX',
      'SVCD_ALLOW_INSECURE_NO_AUTH',
      'SVCD_TEST_MODE',
      'SVCD_DATABASE_URL',
      'SVCD_ENGINE',
      'SVCD_USERNS',
      'SVCD_PODMAN_BIN',
    ])
  })

  test('everything that can hold a password or key is secret', () => {
    expect(rows.filter((row) => row.secret).map((row) => row.name)).toEqual([
      'SVCD_METRICS_TOKEN',
      'SVCD_JWT_SECRET',
      'SVCD_DEFAULT_PASSWORD',
      'oidc_providers',
      'SVCD_DATABASE_URL',
      'SVCD_AUDIT_HMAC_KEY',
      'SVCD_AUDIT_FORWARD_URL',
      'SVCD_AUDIT_FORWARD_HEADER',
      'SVCD_ADMIN_NOTIFICATION_WEBHOOK_URL',
      'SVCD_SMTP_PASSWORD',
      'features_config',
      'SVCD_LLM_API_KEY',
      'SVCD_LLM_MODELS',
    ])
  })

  test('every planned name is a setting', () => {
    const names = new Set(rows.map((row) => row.name))
    expect([...planned].filter((name) => !names.has(name))).toEqual([])
  })
})
