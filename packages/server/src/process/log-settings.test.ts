import { existsSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { settingRows } from '../config/settings.ts'
import { load } from '../testing/load-test-settings.ts'
import { scratchFolder, startDaemon } from '../testing/start-daemon.ts'
import { secretsIn } from './log-settings.ts'

describe('the secrets the log must not write', () => {
  test('come from every setting that is marked secret, however deep they lie', async () => {
    const secretOf = (name: string) => `the-secret-of-${name}-0123456789`
    const env = Object.fromEntries(
      settingRows.flatMap(({ row }) => (row.secret && row.env ? [[row.env, secretOf(row.env)]] : [])),
    )
    const shaped = {
      SVCD_DATABASE_URL: `postgres://svc:${secretOf('SVCD_DATABASE_URL')}@db.example/svc`,
      SVCD_AUDIT_FORWARD_URL: `https://logs.example/${secretOf('SVCD_AUDIT_FORWARD_URL')}`,
      SVCD_AUDIT_FORWARD_HEADER: `Authorization: ${secretOf('SVCD_AUDIT_FORWARD_HEADER')}`,
      SVCD_ADMIN_NOTIFICATION_WEBHOOK_URL: `https://chat.example/${secretOf('SVCD_ADMIN_NOTIFICATION_WEBHOOK_URL')}`,
      SVCD_LLM_MODELS: `a/b::${secretOf('SVCD_LLM_MODELS')}`,
    }
    const yaml = `
features_config: { one: ${secretOf('features_config')}, two: ${secretOf('a-second-feature')} }
oidc_providers: [{ id: corp, issuer: https://id.example, client-id: svc, client-secret: ${secretOf('oidc_providers')} }]`
    const { settings } = await load({ ...env, ...shaped }, yaml)
    const found = secretsIn(settings)
    const names = [...settingRows.flatMap(({ row }) => (row.secret ? row.name : [])), 'a-second-feature']
    expect(names.filter((name) => !found.some((secret) => secret.includes(secretOf(name))))).toEqual([])
    expect(found).toHaveLength(names.length)
  })

  test('are found in lists, sets, maps and objects inside each other', () => {
    const value = { list: [new Set([new Map([['key', { deep: new Secret('hidden') }]])])], other: 'shown', none: null }
    expect(secretsIn(value)).toEqual(['hidden'])
  })
})

test('a log file that was left out comes back with a reload, although no setting changed', async () => {
  const folder = await scratchFolder()
  const logs = join(folder, 'logs')
  await mkdir(logs)
  const { daemon, request } = await startDaemon(folder, { SVCD_LOG_FILE: join(logs, 'svcd.log') })
  await rename(logs, join(folder, 'moved'))
  const leftOut = async () => {
    await request('GET', '/api/v1/version') // the file is only looked for while lines are written
    return daemon.stderr
  }
  await expect.poll(leftOut, { timeout: 10_000 }).toContain('left out until the next reload')
  await mkdir(logs)
  expect(existsSync(join(logs, 'svcd.log'))).toBe(false)
  daemon.kill('SIGHUP')
  await expect.poll(() => daemon.stderr).toContain('reloaded; nothing changed')
  daemon.kill('SIGTERM')
  expect(await daemon.exit()).toBe(0)
  expect(await readFile(join(logs, 'svcd.log'), 'utf8')).toContain('reloaded; nothing changed')
})
