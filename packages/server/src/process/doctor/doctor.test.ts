import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DaemonProcess, daemonEnv, scratchFolder } from '../../testing/start-daemon.ts'

interface Report {
  ok: number
  warnings: number
  errors: number
  checks: { name: string; level: string; text: string; hint?: string }[]
}

/** Where engines of the host listen, whatever the settings say. */
const engineSockets = [
  '/run/podman/podman.sock',
  '/var/run/docker.sock',
  `/run/user/${process.getuid?.()}/podman/podman.sock`,
]

/** The real command; on the local engine, which needs no image. */
async function runDoctor(args: readonly string[], env: Record<string, string> = {}) {
  const folder = await scratchFolder()
  const settings = { ...daemonEnv(folder), TMPDIR: folder, SVCD_ENGINE: 'local', ...env }
  const daemon = new DaemonProcess(settings, ['doctor', ...args])
  const code = await daemon.exit()
  return { code, daemon, folder }
}

const reportOf = ({ stdout }: DaemonProcess): Report => JSON.parse(stdout)

describe('svcd doctor', () => {
  test('prints a line for each check, and how many are well', async () => {
    const { daemon } = await runDoctor([])
    for (const name of ['engine', 'control groups', 'user namespaces', 'nftables', 'egress port', 'clock']) {
      expect(daemon.stdout).toMatch(new RegExp(`^(ok|warning|error) +${name} `, 'm'))
    }
    expect(daemon.stdout).toMatch(/\d+ ok, \d+ warnings?, \d+ errors?\n$/)
  })

  test('prints the same as JSON, with exit code 1 exactly when there is an error', async () => {
    const { code, daemon } = await runDoctor(['--json'])
    const { checks, errors } = reportOf(daemon)
    expect(checks.filter(({ level }) => level === 'error')).toHaveLength(errors)
    expect(code).toBe(errors === 0 ? 0 : 1)
  })

  test('makes nothing that stays', async () => {
    const { folder } = await runDoctor([])
    // Every command makes the configuration file where there is none.
    expect((await readdir(folder)).filter((name) => name !== 'config')).toEqual([])
  })

  test('finds a port that another program has, and says which setting to change', async () => {
    const other = createServer().listen(0, '0.0.0.0')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const address = other.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
    const { code, daemon } = await runDoctor(['--json'], { SVCD_EGRESS_PORT: port })
    expect(code).toBe(1)
    expect(reportOf(daemon).checks.find(({ name }) => name === 'egress port')).toMatchObject({
      level: 'error',
      text: expect.stringContaining('EADDRINUSE'),
      hint: expect.stringContaining('SVCD_EGRESS_PORT'),
    })
  })

  test.skipIf(engineSockets.some(existsSync))('says what to install when no engine answers', async () => {
    const { code, daemon } = await runDoctor(['--json'], { SVCD_ENGINE: 'docker', SVCD_PODMAN_BIN: '/no/such/podman' })
    expect(code).toBe(1)
    expect(reportOf(daemon).checks.find(({ name }) => name === 'engine')).toMatchObject({
      level: 'error',
      hint: expect.stringContaining('apt-get install podman'),
    })
  })

  test('takes --json for itself alone', async () => {
    const daemon = new DaemonProcess(daemonEnv(await scratchFolder()), ['settings', '--json'])
    expect(await daemon.exit()).toBe(2)
    expect(daemon.stderr).toContain('--json is for doctor')
  })
})
