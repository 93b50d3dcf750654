import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { availableMemory } from './memory-available.ts'

/** A machine as the kernel describes it in files. */
function machine(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-memory-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

const meminfo = 'MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n'

test('outside of control groups the machine counts', async () => {
  expect(await availableMemory(machine({ 'proc/meminfo': meminfo }))).toEqual({ bytes: 400 * 1024, fraction: 0.4 })
})

test('a control group that is fuller than the machine counts instead, and what can be dropped is not used', async () => {
  const root = machine({
    'proc/meminfo': meminfo,
    'sys/fs/cgroup/memory.max': '100000\n',
    'sys/fs/cgroup/memory.current': '95000\n',
    'sys/fs/cgroup/memory.stat': 'anon 1\ninactive_file 5000\nactive_file 7\n',
  })
  expect(await availableMemory(root)).toEqual({ bytes: 10_000, fraction: 0.1 })
})

test('the server’s own group is found by its path', async () => {
  const root = machine({
    'proc/meminfo': meminfo,
    'proc/self/cgroup': '0::/system.slice/svcd.service\n',
    'sys/fs/cgroup/system.slice/svcd.service/memory.max': '100000\n',
    'sys/fs/cgroup/system.slice/svcd.service/memory.current': '80000\n',
  })
  expect(await availableMemory(root)).toEqual({ bytes: 20_000, fraction: 0.2 })
})

test('groups of the first version are read as well', async () => {
  const root = machine({
    'proc/meminfo': meminfo,
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '1000\n',
    'sys/fs/cgroup/memory/memory.usage_in_bytes': '900\n',
    'sys/fs/cgroup/memory/memory.stat': 'inactive_file 1\ntotal_inactive_file 200\n',
  })
  expect(await availableMemory(root)).toEqual({ bytes: 300, fraction: 0.3 })
})

test.each(['max', '9223372036854771712'])('a group whose limit is %s has none', async (limit) => {
  const root = machine({
    'proc/meminfo': meminfo,
    'sys/fs/cgroup/memory.max': limit,
    'sys/fs/cgroup/memory.current': '1',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': limit,
    'sys/fs/cgroup/memory/memory.usage_in_bytes': '1',
  })
  expect(await availableMemory(root)).toMatchObject({ fraction: 0.4 })
})

test('where the kernel says nothing there is no answer', async () => {
  expect(await availableMemory(machine({}))).toBeUndefined()
})
