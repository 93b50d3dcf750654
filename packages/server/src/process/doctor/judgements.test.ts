import { describe, expect, test } from 'vitest'
import { judgeCgroups } from './judge-cgroups.ts'
import { judgeClock } from './judge-clock.ts'
import { judgeDisk } from './judge-disk.ts'
import { judgeInotify, judgeLimits, judgeUserNamespaces } from './judge-kernel.ts'

const V2 = 'cgroup2 /sys/fs/cgroup cgroup2 rw 0 0'
const V1 = ['cpu,cpuacct', 'memory', 'pids'].map((name) => `cgroup /sys/fs/cgroup/x cgroup rw,${name} 0 0`).join('\n')
const ALL = 'cpuset cpu io memory pids\n'

describe('control groups', () => {
  test.each([
    ['version 2', V2, ALL, true, 'ok', 'version 2'],
    ['version 2 without memory', V2, 'cpu pids', true, 'warning', 'no memory'],
    ['version 2 with nothing delegated', V2, '', true, 'warning', 'no cpu, memory, pids'],
    ['version 1', V1, '', true, 'ok', 'version 1'],
    ['version 1 without pids', V1.replace('pids', 'x'), '', true, 'warning', 'no pids'],
    ['both, with runc', `${V1}\n${V2}`, '', true, 'warning', 'Nothing to do'],
    ['both, without runc', `${V1}\n${V2}`, '', false, 'warning', 'apt-get install runc'],
    ['none', 'proc /proc proc rw 0 0', '', true, 'error', 'not mounted'],
  ] as const)('%s', (_, mounts, controllers, hasRunc, level, words) => {
    const { text, hint, ...finding } = judgeCgroups({ mounts, controllers, hasRunc })
    expect(finding.level).toBe(level)
    expect(`${text} ${hint}`).toContain(words)
  })
})

describe('user namespaces', () => {
  const user = {
    isRoot: false,
    user: 'anna',
    most: 15_000,
    isClosedToUsers: false,
    subuid: 'anna:100000:65536\n',
    subgid: 'anna:100000:65536\n',
    hasNewuidmap: true,
  }
  test.each([
    ['a user with ranges', user, 'ok', 'anna'],
    [
      'root needs no ranges',
      { ...user, isRoot: true, subuid: '', isClosedToUsers: true, hasNewuidmap: false },
      'ok',
      '',
    ],
    ['none allowed', { ...user, most: 0 }, 'error', 'user.max_user_namespaces'],
    ['not in the kernel', { ...user, most: undefined }, 'error', 'CONFIG_USER_NS'],
    ['closed to users', { ...user, isClosedToUsers: true }, 'error', 'unprivileged_userns_clone=1'],
    ['no newuidmap', { ...user, hasNewuidmap: false }, 'error', 'apt-get install uidmap'],
    ['a range of another', { ...user, subuid: 'annabel:100000:65536' }, 'error', '/etc/subuid'],
    ['a range too small', { ...user, subgid: 'anna:100000:1000' }, 'error', '/etc/subgid'],
  ] as const)('%s', (_, facts, level, words) => {
    const { text, hint, ...finding } = judgeUserNamespaces(facts)
    expect(finding.level).toBe(level)
    expect(`${text} ${hint}`).toContain(words)
  })
})

test.each([
  [1_048_576, 'unlimited', 'ok', 'unlimited processes'],
  [1024, 'unlimited', 'warning', 'open files (1024)'],
  [1024, '100', 'warning', 'open files (1024) and processes (100)'],
])('hard limits of %s files and %s processes: %s', (files, processes, level, words) => {
  const text = [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    `Max processes             50                   ${processes}            processes `,
    `Max open files            512                  ${files}              files     `,
  ].join('\n')
  expect(judgeLimits(text)).toMatchObject({ level, text: expect.stringContaining(words) })
})

test.each([
  [524_288, 1024, 'ok'],
  [8192, 1024, 'warning'],
  [524_288, 64, 'warning'],
  [undefined, undefined, 'warning'],
])('%s watches and %s instances: %s', (watches, instances, level) => {
  expect(judgeInotify({ watches, instances }).level).toBe(level)
})

test.each([
  [100, 1_000_000, 'ok'],
  [100, undefined, 'ok'],
  [5, 1_000_000, 'warning'],
  [0.5, 1_000_000, 'error'],
  [100, 10, 'warning'],
])('%s GiB and room for %s files: %s', (gib, freeFiles, level) => {
  expect(judgeDisk({ path: '/srv', freeBytes: gib * 1024 ** 3, freeFiles }).level).toBe(level)
})

test.each([
  ['2026-05-01', true, 'ok'],
  ['2026-05-01', undefined, 'ok'],
  ['2026-05-01', false, 'warning'],
  ['1970-01-01', true, 'error'],
])('a clock at %s, kept right: %s, is %s', (day, isSynchronised, level) => {
  expect(judgeClock(Date.parse(day), isSynchronised).level).toBe(level)
})
