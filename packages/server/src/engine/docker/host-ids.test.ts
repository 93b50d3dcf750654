import { expect, test } from 'vitest'
import type { EngineFlavour } from './engine-flavour.ts'
import { chooseHostIds } from './host-ids.ts'

const flavour = (kind: 'podman' | 'docker', info: EngineFlavour['info']): EngineFlavour => ({
  kind,
  version: '1',
  prefix: '/v1.41',
  libpodPrefix: '/v4.0.0/libpod',
  info,
})
const choose = (kind: 'podman' | 'docker', info: EngineFlavour['info'], subids = '') =>
  chooseHostIds({
    flavour: flavour(kind, info),
    userns: 'keep-id:uid=1000,gid=1000',
    subuid: subids,
    subgid: subids,
    isRoot: true,
  })

const at = (first: number) => ({ root: { uid: first, gid: first }, user: { uid: first + 1000, gid: first + 1000 } })

test.each([
  ['no range is set aside', '', 1_000_000],
  ['there is one for containers', 'me:100000:65536\ncontainers:2147483647:2147483648\n', 2_147_483_647],
  ['there is one of our own too', 'containers:300000:65536\nsvc:200000:65536\n', 200_000],
  ['ours is too small', 'svc:200000:1000\n', 1_000_000],
])('Podman as root maps ids itself; %s', (_, subids, first) => {
  expect(choose('podman', {}, subids)).toMatchObject({
    userNamespace: { kind: 'map', map: { firstUid: first, firstGid: first, size: 65_536 } },
    isSeparate: true,
    owners: at(first),
  })
})

test('Podman without root is told in its own words, and files cannot be given away', () => {
  expect(choose('podman', { Rootless: true })).toEqual({
    userNamespace: { kind: 'named', mode: 'keep-id:uid=1000,gid=1000' },
    isSeparate: true,
    owners: undefined,
  })
})

test('a Docker daemon that maps ids says by its directory to which', () => {
  const info = { DockerRootDir: '/var/lib/docker/231072.231072', SecurityOptions: ['name=seccomp', 'name=userns'] }
  expect(choose('docker', info)).toMatchObject({ isSeparate: true, owners: at(231_072) })
})

test('a Docker daemon that does not map them has root inside and outside the same', () => {
  expect(choose('docker', { DockerRootDir: '/var/lib/docker', SecurityOptions: ['name=seccomp'] })).toMatchObject({
    isSeparate: false,
    owners: at(0),
  })
})

test('Docker without root is refused', () => {
  expect(() => choose('docker', { SecurityOptions: ['name=rootless'] })).toThrow('use Podman')
})
