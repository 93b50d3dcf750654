import { describe, expect, onTestFinished, test } from 'vitest'
import type { ContainerId } from '../container-engine.ts'
import type { EngineBench } from './engine-bench.ts'
import { EAT_MEMORY, MEGABYTE, NEVER } from './probes.ts'

export function deathTests(bench: EngineBench): void {
  const { spec, run, inside, leftOf, requireSupport, requireService } = bench

  describe('deaths', () => {
    const watched = () => {
      const deaths: ContainerId[] = []
      const gaps: number[] = []
      const watching = new AbortController()
      onTestFinished(() => watching.abort())
      bench.engine.watch({ died: ({ id }) => deaths.push(id), gap: () => gaps.push(Date.now()) }, watching.signal)
      return { deaths, gaps }
    }

    test('a death is told within a second, with the exit code', async () => {
      const { deaths } = watched()
      const id = await run()
      await inside(id, 'setTimeout(() => process.exit(3), 10)')
      await expect.poll(() => deaths, { timeout: 1500 }).toContain(id)
      expect(await bench.engine.inspect(id)).toMatchObject({ running: false, exitCode: 3, outOfMemory: false })
      await expect(bench.engine.connect(id, NEVER)).rejects.toMatchObject({ fault: 'not_running' })
    })

    test('a container that used up its memory says so', async ({ skip }) => {
      requireSupport('limits', skip)
      const { deaths } = watched()
      const id = await run({ limits: { ...spec().limits, memoryBytes: 150 * MEGABYTE } })
      await inside(id, EAT_MEMORY).catch(() => undefined)
      await expect.poll(() => deaths).toContain(id)
      expect(await bench.engine.inspect(id)).toMatchObject({ running: false, exitCode: 137, outOfMemory: true })
    })

    test('one that was killed did not use up its memory', async ({ skip }) => {
      requireSupport('limits', skip)
      const { deaths } = watched()
      const id = await run({ limits: { ...spec().limits, memoryBytes: 150 * MEGABYTE } })
      await inside(id, `process.kill(process.pid, 'SIGKILL')`).catch(() => undefined)
      await expect.poll(() => deaths).toContain(id)
      expect(await bench.engine.inspect(id)).toMatchObject({ running: false, exitCode: 137, outOfMemory: false })
    })

    test('a container that somebody else removed is told as dead, and nothing of it is left', async ({ skip }) => {
      const service = requireService(skip)
      const { deaths } = watched()
      const one = spec({ network: 'isolated' })
      const id = await bench.engine.run(one, { signal: NEVER, onCreated: async () => {} })
      await service.removeContainer(id)
      await expect.poll(() => deaths).toEqual([id])
      expect(await bench.engine.inspect(id)).toBeUndefined()
      await bench.engine.remove(id, { graceSeconds: 0 })
      expect(await leftOf(one)).toEqual([])
    })

    test('after the engine’s service was killed all works as before, and containers are unharmed', async ({ skip }) => {
      const service = requireService(skip)
      const { deaths, gaps } = watched()
      const id = await run()
      const pid = await inside(id, 'globalThis.mark = 7; return process.pid')
      await service.kill(bench.engine)
      expect(await bench.engine.inspect(id)).toMatchObject({ running: true })
      expect(await inside(id, 'return [globalThis.mark, process.pid]')).toEqual([7, pid])
      const another = await run()
      await expect.poll(() => gaps.length).toBeGreaterThan(0)
      await inside(another, 'setTimeout(() => process.exit(3), 10)')
      await expect.poll(() => deaths).toContain(another)
      expect(deaths).not.toContain(id)
    })

    test('nothing is told to somebody who does not watch any more', async () => {
      const deaths: ContainerId[] = []
      const watching = new AbortController()
      bench.engine.watch({ died: ({ id }) => deaths.push(id), gap: () => {} }, watching.signal)
      const { deaths: others } = watched()
      watching.abort()
      const id = await run()
      await inside(id, 'setTimeout(() => process.exit(0), 10)')
      await expect.poll(() => others).toContain(id)
      expect(deaths).toEqual([])
    })
  })
}
