import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { EngineBench } from './engine-bench.ts'
import { NEVER } from './probes.ts'

export function lifeTests(bench: EngineBench): void {
  const { spec, run, inside, leftOf, open } = bench

  describe('life of a container', () => {
    test('a container runs an agent, is listed with its workspace, and is gone when it was removed', async () => {
      const one = spec()
      const told: string[] = []
      const id = await bench.engine.run(one, { signal: NEVER, onCreated: async (created) => void told.push(created) })
      expect(told).toEqual([id])
      expect(await inside(id, 'return 6 * 7')).toBe(42)
      const state = { id, workspaceId: one.workspaceId, role: 'workspace', running: true, outOfMemory: false }
      expect(await bench.engine.inspect(id)).toMatchObject({ ...state, exitCode: undefined })
      expect(await bench.engine.list()).toMatchObject([state])
      await bench.engine.remove(id, { graceSeconds: 5 })
      expect([await bench.engine.inspect(id), await bench.engine.list(), await leftOf(one)]).toEqual([
        undefined,
        [],
        [],
      ])
    })

    test('its start is told in seconds since 1970', async () => {
      const before = Math.floor(Date.now() / 1000) - 1
      const startedAt = (await bench.engine.inspect(await run()))?.startedAt
      expect(startedAt).toBeGreaterThanOrEqual(before)
      expect(startedAt).toBeLessThanOrEqual(Date.now() / 1000 + 1)
    })

    test('removing a container twice is not an error', async () => {
      const id = await run()
      await bench.engine.remove(id, { graceSeconds: 0 })
      await expect(bench.engine.remove(id, { graceSeconds: 0 })).resolves.toBeUndefined()
    })

    test('a workspace can be started again at once', async () => {
      const one = spec({ network: bench.engine.supports.networks ? 'isolated' : 'none' })
      for (let round = 0; round < 3; round++) {
        const id = await bench.engine.run(one, { signal: NEVER, onCreated: async () => {} })
        expect(await inside(id, 'return 1')).toBe(1)
        await bench.engine.remove(id, { graceSeconds: 1 })
      }
      expect(await leftOf(one)).toEqual([])
    })

    test('several can connect to one agent', async () => {
      const id = await run()
      expect(await Promise.all([1, 2, 3].map((n) => inside(id, `return ${n}`)))).toEqual([1, 2, 3])
    })

    test('a server that comes back finds its containers, and their agents', async () => {
      const instanceId = randomUUID()
      const first = await open(instanceId)
      const one = spec()
      const id = await first.run(one, { signal: NEVER, onCreated: async () => {} })
      await first.close()
      const second = await open(instanceId)
      expect(await second.list()).toMatchObject([{ id, workspaceId: one.workspaceId, running: true }])
      expect(await bench.host.evaluate(second, id, 'return 1')).toBe(1)
      await second.remove(id, { graceSeconds: 1 })
      expect(await leftOf(one)).toEqual([])
    })

    test('a container of another server is not seen', async () => {
      const other = await open()
      const id = await run()
      expect([await other.list(), await other.inspect(id)]).toEqual([[], undefined])
      await expect(other.connect(id, AbortSignal.timeout(5000))).rejects.toMatchObject({ fault: 'not_running' })
    })

    test('a container of another server is not removed', async () => {
      const other = await open()
      const id = await run()
      await other.remove(id, { graceSeconds: 0 })
      expect(await bench.engine.inspect(id)).toMatchObject({ running: true })
      expect(await inside(id, 'return 1')).toBe(1)
    })

    test('connecting to a container that is not there fails at once', async () => {
      const id = await run()
      await bench.engine.remove(id, { graceSeconds: 0 })
      await expect(bench.engine.connect(id, NEVER)).rejects.toMatchObject({ fault: 'not_running' })
    })
  })
}
