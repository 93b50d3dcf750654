import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CLAIM_LOCK } from '../storage/postgres/claim-connection.ts'
import { findPostgres, type PostgresCluster, startPostgres } from '../testing/postgres.ts'
import { DaemonProcess, daemonEnv, scratchFolder, startDaemon } from '../testing/start-daemon.ts'

// Each server has directories of its own, as on two machines: only the database can tell that there is another.

describe.skipIf(!findPostgres())('postgres: two servers on one database', () => {
  let cluster: PostgresCluster

  beforeAll(async () => {
    const started = await startPostgres()
    if (started) cluster = started
  })
  afterAll(() => cluster.stop())

  test('the second ends with exit 1 and says why, the first goes on', async () => {
    const env = { SVCD_DATABASE_URL: await cluster.createDatabase() }
    const first = await startDaemon(await scratchFolder(), env)
    const second = new DaemonProcess({ ...daemonEnv(await scratchFolder()), ...env })
    expect([await second.exit(), second.stderr]).toEqual([
      1,
      expect.stringMatching(/^svcd: Another svcd \(connected /m),
    ])
    expect(second.stderr).toContain('is using the PostgreSQL database')
    expect(second.stderr).not.toContain(new URL(env.SVCD_DATABASE_URL).password)
    expect(second.stderr).not.toMatch(/^ {4}at /m)
    expect((await first.request('GET', '/health')).status).toBe(200)
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)('after %s of the first the second can start', async (signal) => {
    const env = { SVCD_DATABASE_URL: await cluster.createDatabase() }
    const first = await startDaemon(await scratchFolder(), env)
    first.daemon.kill(signal)
    expect(await first.daemon.exit()).toBe(signal === 'SIGKILL' ? signal : 0)
    const second = await startDaemon(await scratchFolder(), env)
    expect((await second.request('GET', '/health')).status).toBe(200)
  })

  test('told to stop while it waits for the first, the second leaves at once and with exit 0', async () => {
    const env = { SVCD_DATABASE_URL: await cluster.createDatabase() }
    await startDaemon(await scratchFolder(), env)
    const second = new DaemonProcess({ ...daemonEnv(await scratchFolder()), ...env })
    await expect.poll(() => second.stderr).toContain('another svcd is using the database; trying again')
    second.kill('SIGTERM')
    expect([await second.exit(), second.stderr]).toEqual([0, expect.not.stringContaining('Another svcd')])
  })

  test('a server that lost the database to another ends with exit 70', async () => {
    const env = { SVCD_DATABASE_URL: await cluster.createDatabase() }
    const { daemon } = await startDaemon(await scratchFolder(), env)
    const [other, operator] = [await connected(env.SVCD_DATABASE_URL), await connected(env.SVCD_DATABASE_URL)]
    const waiting = other.query('select pg_advisory_lock($1)', [CLAIM_LOCK])
    const locks = () => operator.query('select 1 from pg_locks where objid = $1', [CLAIM_LOCK])
    await expect.poll(async () => (await locks()).rowCount).toBe(2)
    await operator.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svcd claim'")
    await waiting
    expect(await daemon.exit()).toBe(70)
    expect(daemon.stderr).toMatch(/WARNING[\s\S]*lost the connection that keeps other servers off[\s\S]*Another svcd/)
  })

  test('a backup beside a running server is no second server', async () => {
    const env = { SVCD_DATABASE_URL: await cluster.createDatabase() }
    const folder = await scratchFolder()
    await startDaemon(folder, env)
    const PATH = `${findPostgres()}:${process.env.PATH}`
    const backup = new DaemonProcess({ ...daemonEnv(folder), ...env, PATH }, ['backup', join(folder, 'copy')])
    expect([await backup.exit(), backup.stderr]).toEqual([0, ''])
    expect(existsSync(join(folder, 'copy'))).toBe(true)
  })

  async function connected(url: string): Promise<Client> {
    const client = new Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
})
