import { expect, test } from 'vitest'
import { socketCandidates } from './find-socket.ts'
import { isKillOf } from './kernel-oom.ts'
import { chooseRuntime } from './oci-runtime.ts'

const OLD = 'cgroup /sys/fs/cgroup/memory cgroup rw 0 0\n'
const NEW = 'cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n'
const runtimes = { crun: {}, runc: {} }

test.each([
  ['crun', `${OLD}${NEW}`, runtimes, 'runc'],
  ['crun', NEW, runtimes, undefined],
  ['crun', OLD, runtimes, undefined],
  ['runc', `${OLD}${NEW}`, runtimes, undefined],
  ['crun', `${OLD}${NEW}`, { crun: {} }, undefined],
])('an engine that would take %s, with mounts %j and %j, is told %s', (DefaultRuntime, mounts, Runtimes, chosen) => {
  const flavour = {
    kind: 'podman',
    version: '4',
    prefix: '',
    libpodPrefix: '',
    info: { DefaultRuntime, Runtimes },
  } as const
  expect(chooseRuntime(flavour, mounts)).toBe(chosen)
})

test('sockets are tried in this order: named by the operator, Podman’s, Docker’s', () => {
  const environment = {
    DOCKER_HOST: 'unix:///my/docker.sock',
    CONTAINER_HOST: 'tcp://10.0.0.1:1',
    XDG_RUNTIME_DIR: '/run/user/7',
  }
  expect(socketCandidates(environment, 7)).toEqual([
    '/my/docker.sock',
    '/run/user/7/podman/podman.sock',
    '/run/podman/podman.sock',
    '/var/run/docker.sock',
  ])
  expect(socketCandidates({}, 0)).toEqual(['/run/podman/podman.sock', '/var/run/docker.sock'])
})

const record = (id: string, seconds: number) =>
  `6,1234,${seconds * 1e6},-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/libpod_parent/libpod-${id},task=node,pid=9`

test.each([
  ['its own kill at that moment', record('abc', 100), true],
  ['an earlier one, which it survived', record('abc', 50), false],
  ['that of another container', record('def', 100), false],
  ['another record that names it', '6,1,100000000,-;veth of oom_memcg=/libpod-abc left', false],
])('the kernel’s log about a container that ended 100 s after the boot: %s', (_, text, isKill) => {
  expect(isKillOf(text, 'abc', 100_500)).toBe(isKill)
})
