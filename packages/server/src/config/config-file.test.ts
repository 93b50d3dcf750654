import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { load, refusal, required, temporaryDir } from '../testing/load-test-settings.ts'
import { asOrdinaryUser } from '../testing/ordinary-user.ts'
import { openConfigFile } from './config-file.ts'
import { loadSettings } from './load-settings.ts'
import { parseYaml } from './yaml-text.ts'

describe('the first start', () => {
  test('writes a template that only its owner can read', async () => {
    const dir = join(temporaryDir(), 'deep', 'svcd')
    const file = await openConfigFile(undefined, dir)
    expect(file).toMatchObject({ path: join(dir, 'svcd.yaml'), problems: [], warnings: [] })
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
    await openConfigFile(undefined, dir)
    expect(readFileSync(join(dir, 'svcd.yaml'), 'utf8')).toBe('port: 8080')
  })

  test('may happen twice at once: one writes, the other reads', async () => {
    const dir = temporaryDir()
    const files = await Promise.all([openConfigFile(undefined, dir), openConfigFile(undefined, dir)])
    expect(files.flatMap(({ problems, warnings }) => [...problems, ...warnings])).toEqual([])
    expect(files.map(({ path }) => path)).toEqual([join(dir, 'svcd.yaml'), join(dir, 'svcd.yaml')])
  })

  test('goes on with a warning where nothing can be written', async () => {
    const file = await openConfigFile(undefined, '/sys/svcd') // where not even root can make one
    expect(file.problems).toEqual([])
    expect(file.warnings[0]).toMatch(
      /cannot be created: (operation not permitted|permission denied|read-only file system)$/,
    )
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
    const { settings } = await loadSettings({ env: { ...required, HOME: '/nowhere', ...env(root) } })
    expect(settings.network.port).toBe(8080)
    expect(settings.directories.configDir).toBe(join(root, place))
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
    await loadSettings({ env: { ...required, SVCD_CONFIG_DIR: dir }, config: 'none' })
    expect(existsSync(dir)).toBe(false)
  })
})

describe('keys', () => {
  test.each(['log_level: DEBUG', 'log-level: debug'])('%s sets the log level', async (yaml) => {
    expect((await load({}, yaml)).settings.logging.level).toBe('DEBUG')
  })

  test.each([
    ['both spellings', 'log_level: INFO\nlog-level: DEBUG', 'is in the file twice, as log_level and log-level'],
    [
      'the nested and the flat form',
      'nix_seed: { path: /a }\nnix_seed__path: /b',
      'as nix_seed.path and nix_seed__path',
    ],
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

  test.each(['nix_seed__type: btrfs-snapshot', 'nix-seed--type: btrfs-snapshot'])(
    '%s is the flat form, the variable in lower case',
    async (yaml) => {
      const { settings, warnings } = await load({}, yaml)
      expect(settings.containers.nixSeedType).toBe('btrfs-snapshot')
      expect(warnings.join()).not.toContain('Unknown')
    },
  )
})

/** Ten of ten of ten: a thousand values in a few lines. */
const aliasBomb = ['a: &a [hunter2]', ...'bcd'].reduce((text, name, index) => {
  const before = `*${'abc'[index - 1]}`
  return `${text}\n${name}: &${name} [${Array(10).fill(before).join(', ')}]`
})

describe('a file that cannot be used', () => {
  test.each([
    ['broken YAML', 'jwt_secret: [hunter2', /is not valid YAML: .* in line 1, column \d+/],
    ['a key twice', 'port: 1\nport: 2', /is not valid YAML: duplicate key in line 2/],
    ['an alias by accident', 'smtp_password: *hunter2', /is not valid YAML: .*alias/],
    ['an alias too often', aliasBomb, /is not valid YAML: an alias \(\*\) cannot be followed/],
    ['a tag nobody knows', 'smtp_password: !hunter2 x', /is not valid YAML: tag resolve failed in line 1, column 16/],
    ['a list', '- hunter2', /must be a map of settings/],
    ['a bare word', 'hunter2', /must be a map of settings/],
  ])('%s is refused without showing its content', async (_, yaml, reason) => {
    const { message } = await refusal({}, yaml)
    expect(message).toMatch(reason)
    expect(message).not.toContain('hunter2')
  })

  test('the YAML library prints no warning of its own, which would quote the content', () => {
    using warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    parseYaml('? [hunter2]\n: x')
    expect(warned).not.toHaveBeenCalled()
  })

  test('its fault is reported with those of the environment, and nothing is called missing', async () => {
    const error = await refusal({ SVCD_PORT: 'x', SVCD_STATE_DIR: '' }, 'a: [')
    expect(error.problems.map(({ setting }) => setting.split(' ')[0])).toEqual(['The', 'SVCD_PORT'])
  })

  test('one that may not be read is refused', async () => {
    const path = join(temporaryDir(), 'svcd.yaml')
    writeFileSync(path, '')
    chmodSync(path, 0)
    const loading = asOrdinaryUser(() => loadSettings({ env: required, config: path }))
    await expect(loading).rejects.toThrow('cannot be read: permission denied')
  })

  test('one in a directory that may not be entered is not replaced by the defaults', async () => {
    const dir = temporaryDir()
    writeFileSync(join(dir, 'svcd.yaml'), 'auth_modes: password')
    chmodSync(dir, 0)
    const loading = asOrdinaryUser(() => loadSettings({ env: { ...required, SVCD_CONFIG_DIR: dir } }))
    await expect(loading).rejects.toThrow('cannot be read: permission denied')
    chmodSync(dir, 0o700)
  })

  test.each([
    [
      'whose directory cannot be reached',
      (dir: string) => symlinkSync(dir, dir),
      'too many symbolic links encountered',
    ],
    ['whose directory is a file', (dir: string) => writeFileSync(dir, ''), 'not a directory'],
    [
      'that is a directory',
      (dir: string) => mkdirSync(join(dir, 'svcd.yaml'), { recursive: true }),
      'illegal operation on a directory',
    ],
    [
      'that is a link to a file that is gone',
      (dir: string) => {
        mkdirSync(dir)
        symlinkSync('gone.yaml', join(dir, 'svcd.yaml'))
      },
      'no such file or directory',
    ],
  ])('the default one, %s, is not replaced by the defaults', async (_, prepare, reason) => {
    const dir = join(temporaryDir(), 'svcd')
    prepare(dir)
    const loading = loadSettings({ env: { ...required, SVCD_CONFIG_DIR: dir } })
    await expect(loading).rejects.toThrow(`svcd.yaml cannot be read: ${reason}`)
  })

  test.each(['', '# nothing', '---'])('an empty one (%j) is fine', async (yaml) => {
    expect((await load({}, yaml)).settings.network.port).toBeUndefined()
  })
})
