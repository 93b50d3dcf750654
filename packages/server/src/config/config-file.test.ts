import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError } from './config-error.ts'
import { openConfigFile } from './config-file.ts'
import { load, refusal, required, temporaryDir } from './load-fixture.ts'
import { loadSettings } from './load-settings.ts'
import { parseYaml } from './yaml-text.ts'

describe('the first start', () => {
  test('writes a template that only its owner can read', async () => {
    const dir = join(temporaryDir(), 'deep', 'svcd')
    const file = await openConfigFile(undefined, dir)
    expect(file).toMatchObject({ created: true, path: join(dir, 'svcd.yaml'), problems: [] })
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, 'svcd.yaml')).mode & 0o777).toBe(0o600)
  })

  test('writes no setting, and does not suggest identities, passwords or directories', async () => {
    const dir = temporaryDir()
    await openConfigFile(undefined, dir)
    const text = readFileSync(join(dir, 'svcd.yaml'), 'utf8')
    expect(parseYaml(text)).toBeNull()
    expect(text).not.toMatch(/^# \w*(user|password|_dir|jwt|key)\w*:/m)
  })

  test('leaves an existing file alone', async () => {
    const dir = temporaryDir()
    writeFileSync(join(dir, 'svcd.yaml'), 'port: 8080')
    expect((await openConfigFile(undefined, dir)).created).toBe(false)
    expect(readFileSync(join(dir, 'svcd.yaml'), 'utf8')).toBe('port: 8080')
  })

  test('may happen twice at once: one writes, the other reads', async () => {
    const dir = temporaryDir()
    const files = await Promise.all([openConfigFile(undefined, dir), openConfigFile(undefined, dir)])
    expect(files.map(({ created }) => created).toSorted()).toEqual([false, true])
    expect(files.flatMap(({ problems }) => problems)).toEqual([])
  })

  test('goes on with a warning where nothing can be written', async () => {
    const blocked = join(temporaryDir(), 'a-file')
    writeFileSync(blocked, '')
    const file = await openConfigFile(undefined, join(blocked, 'svcd'))
    expect(file.problems).toEqual([])
    expect(file.warnings[0]).toMatch(/cannot be created: not a directory$/)
  })
})

describe('where the file is looked for', () => {
  const port = 'port: 8080'
  const writeIn = (dir: string) => {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'svcd.yaml'), port)
  }

  test.each([
    ['SVCD_CONFIG_DIR', (root: string) => ({ SVCD_CONFIG_DIR: join(root, 'own') }), 'own'],
    ['XDG_CONFIG_HOME', (root: string) => ({ XDG_CONFIG_HOME: join(root, 'xdg') }), 'xdg/svcd'],
    ['the home directory', (root: string) => ({ HOME: root }), '.config/svcd'],
  ])('%s', async (_, env, place) => {
    const root = temporaryDir()
    writeIn(join(root, place))
    const { settings, sources } = await loadSettings({ env: { ...required, HOME: '/nowhere', ...env(root) } })
    expect(settings.network.port).toBe(8080)
    expect(settings.directories.configDir).toBe(join(root, place))
    expect(sources.configFile).toBe(join(root, place, 'svcd.yaml'))
  })

  test('a file cannot move its own directory', async () => {
    const { settings, warnings } = await load({ HOME: '/home/ann' }, 'config_dir: /elsewhere')
    expect(settings.directories.configDir).toBe('/home/ann/.config/svcd')
    expect(warnings.join()).toContain('config_dir (set SVCD_CONFIG_DIR')
  })

  test('--config must name a file that exists, and none is written for it', async () => {
    const path = join(temporaryDir(), 'missing.yaml')
    await expect(loadSettings({ env: required, config: path })).rejects.toThrow('cannot be read: no such file')
    expect(existsSync(path)).toBe(false)
  })

  test('--config none reads and writes nothing', async () => {
    const dir = join(temporaryDir(), 'svcd')
    const { sources } = await loadSettings({ env: { ...required, SVCD_CONFIG_DIR: dir }, config: 'none' })
    expect(sources.configFile).toBeUndefined()
    expect(existsSync(dir)).toBe(false)
  })
})

describe('keys', () => {
  test.each(['log_level: DEBUG', 'log-level: debug'])('%s sets the log level', async (yaml) => {
    expect((await load({}, yaml)).settings.logging.level).toBe('DEBUG')
  })

  test.each([
    ['both spellings', 'log_level: INFO\nlog-level: DEBUG', 'is in the file twice, as log_level and log-level'],
    ['a key and its alias', 'trusted_ca_dir: /a\napproved_ca_dir: /b', 'as trusted_ca_dir and approved_ca_dir'],
  ])('%s of one setting are refused', async (_, yaml, reason) => {
    expect((await refusal({}, yaml)).message).toContain(reason)
  })

  test('an alias sets the setting', async () => {
    expect((await load({}, 'approved_ca_dir: /a')).settings.tls.trustedCaDir).toBe('/a')
  })

  test.each(['nix_seed: { type: btrfs-snapshot, path: /seed }', 'nix-seed:\n  type: btrfs-snapshot\n  path: /seed'])(
    '%j is the nested form of two settings',
    async (yaml) => {
      const { containers } = (await load({ SVCD_NIX_SEED__PATH: '/other' }, yaml)).settings
      expect(containers).toMatchObject({ nixSeedType: 'btrfs-snapshot', nixSeedPath: '/other' })
    },
  )
})

describe('a file that cannot be used', () => {
  test.each([
    ['broken YAML', 'jwt_secret: [hunter2', /is not valid YAML: .* in line 1, column \d+/],
    ['a key twice', 'port: 1\nport: 2', /is not valid YAML: duplicate key in line 2/],
    ['an alias by accident', 'smtp_password: *hunter2', /is not valid YAML: an alias/],
    ['a list', '- hunter2', /must be a map of settings/],
    ['a bare word', 'hunter2', /must be a map of settings/],
  ])('%s is refused without showing its content', async (_, yaml, reason) => {
    const { message } = await refusal({}, yaml)
    expect(message).toMatch(reason)
    expect(message).not.toContain('hunter2')
  })

  test('its fault is reported with those of the environment, and nothing is called missing', async () => {
    const error = await refusal({ SVCD_PORT: 'x', SVCD_STATE_DIR: '' }, 'a: [')
    expect(error.problems.map(({ setting }) => setting.split(' ')[0])).toEqual(['The', 'SVCD_PORT'])
  })

  test.skipIf(process.getuid?.() === 0)('one that may not be read is refused', async () => {
    const path = join(temporaryDir(), 'svcd.yaml')
    writeFileSync(path, '')
    chmodSync(path, 0)
    await expect(loadSettings({ env: required, config: path })).rejects.toThrow(ConfigError)
  })

  test.each(['', '# nothing', '---'])('an empty one (%j) is fine', async (yaml) => {
    expect((await load({}, yaml)).settings.network.port).toBeUndefined()
  })
})
