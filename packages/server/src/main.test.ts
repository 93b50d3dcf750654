import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DaemonProcess, daemonEnv, scratchFolder } from './testing/start-daemon.ts'

test('svcd settings tells the warnings on standard error, beside the table', async () => {
  const svcd = new DaemonProcess({ ...daemonEnv(await scratchFolder()), SVCD_LISTN: '::1' }, ['settings'])
  expect(await svcd.exit()).toBe(0)
  expect(svcd.stderr).toBe('svcd: warning: Unknown settings, ignored: SVCD_LISTN (did you mean SVCD_LISTEN?)\n')
  expect(svcd.stdout).toMatch(/^SETTING /)
})

test.each([[[]], [['settings']]])(
  'svcd %j does not fall back to the defaults when its file is out of reach: exit 78',
  async (args) => {
    const folder = await scratchFolder()
    await writeFile(join(folder, 'blocked'), '')
    const svcd = new DaemonProcess({ ...daemonEnv(folder), SVCD_CONFIG_DIR: join(folder, 'blocked') }, args)
    expect(await svcd.exit()).toBe(78)
    expect(svcd.stderr).toContain('svcd.yaml cannot be read: not a directory')
  },
)
