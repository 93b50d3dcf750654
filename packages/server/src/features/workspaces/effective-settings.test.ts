import { expect, test } from 'vitest'
import { load } from '../../testing/load-test-settings.ts'
import { effectiveLimits, hasSudo } from './effective-settings.ts'

const containersWith = async (env: Record<string, string>) => (await load(env)).settings.containers

test('a workspace has its own limits, and those of the server where it has none', async () => {
  const containers = await containersWith({ SVCD_CONTAINER_PIDS_LIMIT: '', SVCD_CONTAINER_TMP_SIZE: '1g' })
  expect(effectiveLimits({ settings: null }, containers)).toEqual({
    cpus: 2,
    memoryBytes: 8 * 1024 ** 3,
    pids: undefined,
    tmpBytes: 1024 ** 3,
  })
  const settings = { cpu_limit: 0.5, memory_limit: '512m', pids_limit: 7, tmp_size: '1.5k' }
  expect(effectiveLimits({ settings }, containers)).toEqual({
    cpus: 0.5,
    memoryBytes: 512 * 1024 ** 2,
    pids: 7,
    tmpBytes: 1536,
  })
})

test.each([
  { server: 'true', own: true, sudo: true },
  { server: 'true', own: undefined, sudo: false },
  { server: 'true', own: false, sudo: false },
  { server: 'false', own: true, sudo: false },
])('sudo: server $server, workspace $own, so $sudo', async ({ server, own, sudo }) => {
  const containers = await containersWith({ SVCD_ALLOW_SUDO: server })
  expect(hasSudo({ settings: own === undefined ? null : { allow_sudo: own } }, containers)).toBe(sudo)
})
