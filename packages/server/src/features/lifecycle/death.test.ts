import { expect, test } from 'vitest'
import type { ContainerState } from '../../engine/container-engine.ts'
import { classifyDeath } from './death.ts'

const ended: ContainerState = {
  id: 'c',
  workspaceId: 'w',
  role: 'workspace',
  running: false,
  exitCode: undefined,
  outOfMemory: false,
  startedAt: 1,
}

test.each<[string, ContainerState | undefined, string, string]>([
  ['one the engine does not know', undefined, 'removed', 'The container was removed by somebody else'],
  ['a failing program', { ...ended, exitCode: 3 }, 'exited', 'The container ended with exit code 3'],
  ['a killed program', { ...ended, exitCode: 137 }, 'exited', 'The container ended with exit code 137 (SIGKILL)'],
  ['a code beyond every signal', { ...ended, exitCode: 255 }, 'exited', 'The container ended with exit code 255'],
  ['a clean end', { ...ended, exitCode: 0 }, 'exited', 'The container ended cleanly (exit code 0)'],
  ['an end nobody saw', ended, 'exited', 'The container ended; its exit code is unknown'],
  [
    'one out of memory',
    { ...ended, exitCode: 137, outOfMemory: true },
    'oom',
    'The container ran out of memory (limit 512 MiB), exit code 137',
  ],
])('%s', (_, state, cause, message) => {
  expect(classifyDeath(state, 512 * 1024 ** 2)).toEqual({ cause, message })
})
