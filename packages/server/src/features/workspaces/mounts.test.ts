import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { load } from '../../testing/load-test-settings.ts'
import { checkMounts, type MountRules, mountRulesOf } from './mounts.ts'

const volumesOnly: MountRules = { allowedRoots: [], protectedPaths: [] }

test('without mounts there is nothing to mount', async () => {
  expect(await checkMounts(null, volumesOnly)).toEqual([])
  expect(await checkMounts([], volumesOnly)).toEqual([])
})

describe('a volume', () => {
  test.each([
    ['cache:/cache', { name: 'cache', target: '/cache', readOnly: false }],
    ['a.b_c-D9:/data/', { name: 'a.b_c-D9', target: '/data', readOnly: false }],
    ['cache:/home/svc/.cache:ro', { name: 'cache', target: '/home/svc/.cache', readOnly: true }],
    ['cache:/x//y/../z:rw,nocopy', { name: 'cache', target: '/x/z', readOnly: false }],
    ['cache://x:z', { name: 'cache', target: '/x', readOnly: false }],
    [`${'v'.repeat(64)}:/x:Z,cached`, { name: 'v'.repeat(64), target: '/x', readOnly: false }],
  ])('%s', async (spec, mount) => {
    expect(await checkMounts([spec], volumesOnly)).toEqual([{ kind: 'volume', ...mount }])
  })

  test.each([
    ['', 'source:destination'],
    ['cache', 'source:destination'],
    ['a:/b:ro:x', 'source:destination'],
    [':/x', 'the source is empty'],
    ['cache:', 'the destination must be a path from /'],
    ['cache:x', 'the destination must be a path from /'],
    ['cache:/x:', "'' is none of the options ro, rw, z, Z, nocopy, consistent, cached, delegated"],
    ['cache:/x:exec', "'exec' is none of the options"],
    ['cache:/x:ro,', "'' is none of the options"],
    ['cache:/x:ro,rw', 'ro and rw exclude each other'],
    ['-cache:/x', 'volume name'],
    ['_cache:/x', 'volume name'],
    [`${'v'.repeat(65)}:/x`, 'volume name'],
    ['ca che:/x', 'volume name'],
    ['dir/cache:/x', 'volume name'],
    ['~:/x', 'volume name'],
    ['~/x:/x', 'volume name'],
    ['ca\0che:/x', 'NUL'],
    ['cache:/x\0', 'NUL'],
  ])('%j is refused', async (spec, why) => {
    const refusal = expect(checkMounts([spec], volumesOnly)).rejects
    await refusal.toThrow(`Invalid mount '${spec.replaceAll('\0', '\\0')}': `)
    await expect(checkMounts([spec], volumesOnly)).rejects.toThrow(why)
  })

  test.each([
    '/',
    '//',
    '/x/..',
    '/home',
    '/home/',
    '/opt',
    '/opt/svc',
    '/opt/svc/config',
    '/run',
    '/run/svc',
    '/tmp',
    '/tmp/svc/x',
    '/proc',
    '/proc/self',
    '/sys',
    '/dev',
    '/dev/shm',
    '/var/../dev',
    '/var/run/svc',
    '/var',
    '/etc',
    '/etc/ld.so.preload',
    '/usr/local/lib',
    '/lib64',
    '/lib/x86_64-linux-gnu',
    '/bin',
    '/root/.profile',
  ])('cannot be put at %s, which is ours', async (target) => {
    await expect(checkMounts([`cache:${target}`], volumesOnly)).rejects.toThrow('belongs to the workspace itself')
  })

  test('can be put beside them', async () => {
    expect(await checkMounts(['a:/var/lib/data', 'b:/opt/tool', 'c:/srv', 'd:/home/svc/d'], volumesOnly)).toHaveLength(
      4,
    )
  })

  test('no more than 64, and no path that the system would not take', async () => {
    const many = Array.from({ length: 65 }, (_, n) => `v:/m${n}`)
    await expect(checkMounts(many, volumesOnly)).rejects.toThrow('A workspace has at most 64 mounts')
    const endless = `/${'a/'.repeat(20_000)}`
    for (const spec of [`${endless}:/x`, `v:${endless}`]) {
      const refusal = checkMounts([spec], volumesOnly)
      await expect(refusal).rejects.toThrow('a path has at most 4095 bytes')
      await expect(refusal).rejects.toMatchObject({ message: expect.stringMatching(/^.{0,400}$/) })
    }
  })

  test('no destination is used twice', async () => {
    await expect(checkMounts(['a:/x', 'b:/y/../x/'], volumesOnly)).rejects.toThrow(
      "Invalid mount 'b:/y/../x/': the destination is used twice",
    )
    expect(await checkMounts(['a:/x', 'a:/y', 'b:/x/z'], volumesOnly)).toHaveLength(3)
  })
})

describe('a host path', () => {
  const outside = { folder: '' }
  let rules: MountRules
  let root = ''
  let data = ''
  const server = createServer()

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-mounts-'))
    outside.folder = folder
    root = join(folder, 'shared')
    data = join(root, 'server', 'data')
    for (const path of ['project', 'server/data/workspaces', 'engine/podman', 'server/free']) {
      await mkdir(join(root, path), { recursive: true })
    }
    await mkdir(join(folder, 'private'))
    await mkdir(join(folder, 'shared-too'))
    await writeFile(join(root, 'file'), '')
    await symlink(join(folder, 'private'), join(root, 'escape'))
    await symlink('/', join(root, 'all'))
    await symlink(data, join(root, 'to-data'))
    await symlink(join(root, 'project'), join(root, 'inside'))
    await symlink(root, join(folder, 'root-link'))
    await symlink(join(folder, 'nowhere'), join(root, 'broken'))
    await new Promise<void>((resolve) => server.listen(join(root, 'engine', 'podman', 'podman.sock'), resolve))
    rules = { allowedRoots: [root, join(folder, 'no-such-root')], protectedPaths: [data] }
  })
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve))
    await rm(outside.folder, { recursive: true })
  })
  const check = (source: string, by = rules) => checkMounts([`${source}:/x:ro`], by)

  test('below an allowed root is mounted, with its links resolved', async () => {
    const mount = { kind: 'host', target: '/x', readOnly: true }
    const project = join(root, 'project')
    expect(await check(project)).toEqual([{ ...mount, source: project }])
    expect(await check(`${project}/../project/`)).toEqual([{ ...mount, source: project }])
    expect(await check(join(root, 'inside'))).toEqual([{ ...mount, source: project }])
    expect(await check(join(root, 'file'))).toEqual([{ ...mount, source: join(root, 'file') }])
    expect(await check(`./${relative(process.cwd(), project)}`)).toEqual([{ ...mount, source: project }])
  })

  test('is also found below a root that is itself reached by a link, or reached by one', async () => {
    const link = join(outside.folder, 'root-link')
    const project = join(root, 'project')
    expect(await check(project, { ...rules, allowedRoots: [link] })).toMatchObject([{ source: project }])
    expect(await check(join(link, 'project'))).toMatchObject([{ source: project }])
  })

  test('the root itself may be mounted when nothing protected is in it', async () => {
    const tooRoot = join(outside.folder, 'shared-too')
    expect(await check(tooRoot, { ...rules, allowedRoots: [tooRoot] })).toMatchObject([{ source: tooRoot }])
  })

  test('is refused without any root', async () => {
    await expect(check(join(root, 'project'), volumesOnly)).rejects.toThrow('this server mounts volumes only')
  })

  test.each(['private', 'shared-too', 'nothing-here', 'shared/escape', 'shared/../private'])(
    '%s is outside of the roots, whether or not it exists',
    async (path) => {
      await expect(check(join(outside.folder, path))).rejects.toThrow('the source is not below an allowed root')
    },
  )

  test.each(['missing', 'broken'])('%s below a root does not exist, and is said to', async (path) => {
    await expect(check(join(root, path))).rejects.toThrow('the source does not exist')
  })

  test.each(['server/data', 'server/data/workspaces', 'server', '', 'to-data', 'all'])(
    '%j is, holds or leads to what the server keeps to itself',
    async (path) => {
      await expect(check(join(root, path))).rejects.toThrow('the source is protected')
    },
  )

  test('what lies beside it is free', async () => {
    expect(await check(join(root, 'server', 'free'))).toHaveLength(1)
  })

  test.each([
    '/',
    '/proc',
    '/proc/1',
    '/sys/fs',
    '/dev',
    '/dev/null',
    '/run',
    '/var',
    '/var/run/docker.sock',
    '/run/docker.sock',
    '/run/podman/podman.sock',
    '/var/run',
    '/run/user/1000',
    '/var/lib/docker/volumes',
    '/var/lib/containers',
  ])('%s is never given away, even when everything is allowed', async (path) => {
    await expect(check(path, { allowedRoots: ['/'], protectedPaths: [] })).rejects.toThrow('the source is protected')
  })

  test('the socket of an engine is not, and no directory that holds one', async () => {
    await expect(check(join(root, 'engine'))).rejects.toThrow('the source holds the socket of an engine')
    await expect(check(join(root, 'engine', 'podman'))).rejects.toThrow('the source holds the socket of an engine')
    await expect(check(join(root, 'engine', 'podman', 'podman.sock'))).rejects.toThrow('must be a directory or a file')
  })

  test('a directory that became a link is judged by where it leads now', async () => {
    const place = join(root, 'swapped')
    await mkdir(place)
    expect(await check(place)).toHaveLength(1)
    await rm(place, { recursive: true })
    await symlink(join(outside.folder, 'private'), place)
    await expect(check(place)).rejects.toThrow('the source is not below an allowed root')
  })
})

test('the directories of the server are protected by its settings', async () => {
  const { settings } = await load({ SVCD_ALLOWED_MOUNT_ROOTS: '/srv, /data' })
  const { dataDir, stateDir, configDir } = settings.directories
  expect(mountRulesOf(settings, ['/run/engine.sock'])).toEqual({
    allowedRoots: ['/srv', '/data'],
    protectedPaths: [dataDir, stateDir, configDir, '/run/engine.sock'],
  })
})
