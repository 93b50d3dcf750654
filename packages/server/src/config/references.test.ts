import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { load, refusal, temporaryDir, writeTemporary } from '../testing/load-test-settings.ts'
import { commandEnvironment } from './command-environment.ts'
import { createReferenceReader } from './references.ts'
import { settingRows } from './settings.ts'

const reader = createReferenceReader({ env: { PATH: '/usr/bin:/bin', NAME: 'from the environment' }, home: '/' })

describe('what a reference leads to', () => {
  test('a file gives its content without surrounding whitespace', async () => {
    const path = writeTemporary('secret', '\n  s3cret \n\n')
    expect(await reader(`file:${path}`)).toBe('s3cret')
  })

  test('a file may be named from the home directory', async () => {
    const home = temporaryDir()
    writeTemporary('key', 'value', home)
    expect(await createReferenceReader({ env: {}, home })('file:~/key')).toBe('value')
  })

  test('a command is run by the shell with our environment', async () => {
    expect(await reader('cmd:printf "  %s\\n" "$NAME" | tr a-z A-Z')).toBe('FROM THE ENVIRONMENT')
  })

  test('a command does not get our secrets, nor what a feature may hold as one', async () => {
    const secrets = settingRows.flatMap(({ row }) => (row.secret && row.env ? row.env : []))
    const hidden = Object.fromEntries([...secrets, 'SVCWS_FEATURE_GIT_TOKEN'].map((name) => [name, 'hidden']))
    expect(commandEnvironment({ ...hidden, SVCD_SMTP_USER: 'ann', OTHER: 'x' })).toEqual({
      SVCD_SMTP_USER: 'ann',
      OTHER: 'x',
    })
    const { settings } = await load({ SVCD_METRICS_TOKEN: 'hidden', SVCD_LOGIN_BANNER: 'cmd:env' })
    expect(settings.branding.loginBanner).toContain('SVCD_STATE_DIR=')
    expect(settings.branding.loginBanner).not.toContain('SVCD_METRICS_TOKEN')
  })

  test.each([
    ['SVCD_PORT', 'printf 8080'],
    ['SVCD_CONTAINER_MEMORY_LIMIT', 'echo 1g'],
    ['SVCD_LOG_FORMAT', 'echo json'],
    ['SVCD_LISTEN', 'echo ::1'],
    ['SVCD_CORS_ORIGINS', 'echo https://a.example,https://b.example'],
  ])('%s may be given by a command', async (name, command) => {
    const { entries } = await load({ [name]: `cmd:${command}` })
    expect(entries.find((entry) => entry.name === name)).toMatchObject({ source: 'environment', byReference: true })
  })

  test('the configuration file may hold references too', async () => {
    const path = writeTemporary('port', '8123')
    const { settings, entries } = await load({}, `port: file:${path}`)
    expect(settings.network.port).toBe(8123)
    expect(entries.find(({ name }) => name === 'SVCD_PORT')).toMatchObject({ source: 'file', byReference: true })
  })
})

describe('a reference that fails', () => {
  const hidden = 'very-hidden-name'

  test.each([
    ['a missing file', `file:/nowhere/${hidden}`, 'refers to a file that cannot be read: no such file or directory'],
    ['a command that fails', `cmd:: ${hidden}; exit 3`, 'refers to a command that failed with exit status 3'],
    ['a command that is killed', `cmd:: ${hidden}; kill -9 $$`, 'refers to a command that failed with SIGKILL'],
    ['a command that prints nothing', `cmd:: ${hidden}`, 'refers to something empty'],
    ['an empty command', 'cmd: ', 'refers to nothing'],
    ['an empty file name', 'file:', 'refers to nothing'],
  ])('%s: the error has the reason, and neither path nor command', async (_, reference, reason) => {
    const { message } = await refusal({ SVCD_PRODUCT_NAME: reference })
    expect(message).toContain(`SVCD_PRODUCT_NAME ${reason}`)
    expect(message).not.toContain(hidden)
  })

  test.each([
    ['a directory', temporaryDir],
    ['a pipe that nobody writes to', namedPipe],
    ['a device without end', () => '/dev/zero'],
  ])('%s in place of a file is refused at once', async (_, path) => {
    await expect(reader(`file:${path()}`)).rejects.toThrow('refers to something that is not a regular file')
  })

  test('a file of 1 MB is read, a longer one refused', async () => {
    const megabyte = 'x'.repeat(1024 * 1024)
    expect(await reader(`file:${writeTemporary('long', megabyte)}`)).toBe(megabyte)
    const longer = writeTemporary('longer', `${megabyte}x`)
    await expect(reader(`file:${longer}`)).rejects.toThrow('refers to a file of more than 1 MB')
  })

  test.each([
    ['a NUL in a command', `cmd:echo ${hidden}\0`, 'must not hold a NUL character'],
    ['a NUL in a path', `file:/${hidden}\0`, 'must not hold a NUL character'],
    ['a command too long to run', `cmd:${hidden}${'x'.repeat(200_000)}`, 'that cannot be run: argument list too long'],
  ])('%s is an ordinary refusal', async (_, reference, reason) => {
    const { message } = await refusal({}, `product_name: ${JSON.stringify(reference)}`)
    expect(message).toContain(reason)
    expect(message).not.toContain(hidden)
  })

  test('an empty secret file does not count as "not set"', async () => {
    const { message } = await refusal({ SVCD_METRICS_TOKEN: `file:${writeTemporary('token', '\n')}` })
    expect(message).toContain('SVCD_METRICS_TOKEN refers to something empty')
  })

  test('a value that was referred to is not shown when it is wrong', async () => {
    const { message } = await refusal({ SVCD_PORT: 'cmd:echo hunter2' })
    expect(message).toContain('SVCD_PORT must be a whole number from 1 to 65535')
    expect(message).not.toContain('hunter2')
  })

  test('a command that takes too long is stopped', async () => {
    const impatient = createReferenceReader({ env: { PATH: '/usr/bin:/bin' }, home: '/', commandLimitMs: 50 })
    await expect(impatient('cmd:sleep 600')).rejects.toThrow('did not finish within 0.05 seconds')
  })

  test('a command that prints without end is stopped, together with what it started', async () => {
    const pidFile = join(temporaryDir(), 'pid')
    await expect(reader(`cmd:sleep 600 & echo $! > ${pidFile}; yes`)).rejects.toThrow('printed more than 1 MB')
    const pid = Number(await reader(`file:${pidFile}`))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

function namedPipe(): string {
  const path = join(temporaryDir(), 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

/** Killed, but not yet collected by the init process, counts as ended: its state is then Z. */
function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
