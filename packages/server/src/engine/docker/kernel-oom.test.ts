import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { kernelSaysOutOfMemory } from './kernel-oom.ts'

test.each(['/dev/null', '/dev/zero', '/no/such/file'])(
  '%s in the place of the kernel’s log says nothing',
  async (path) => {
    expect(await kernelSaysOutOfMemory('c1', 0, systemClock, path)).toBe(false)
  },
)
