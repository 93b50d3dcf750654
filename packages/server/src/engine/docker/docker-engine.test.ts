import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { engineKinds } from '../../testing/engines.ts'
import type { ContainerSpec } from '../container-engine.ts'
import { useEngine } from '../suite/engine-bench.ts'
import { NEVER } from '../suite/probes.ts'

// What only this driver does. What every driver does is in the suite.

for (const kind of engineKinds.filter(({ name }) => name !== 'local')) {
  const title = kind.missing === undefined ? kind.name : `${kind.name} (left out: ${kind.missing})`
  describe.skipIf(kind.missing !== undefined)(title, () => {
    const bench = useEngine(kind)
    const { spec, inside, leftOf } = bench
    const run = (one: ContainerSpec) => bench.engine.run(one, { signal: NEVER, onCreated: async () => {} })

    test('a container of the same workspace that was left behind is replaced', async () => {
      const one = spec({ network: 'isolated' })
      const first = await run(one)
      const second = await run(one)
      expect(await bench.engine.list()).toMatchObject([{ id: second }])
      expect(await inside(second, 'return 1')).toBe(1)
      expect(await bench.engine.inspect(first)).toBeUndefined()
      await bench.engine.remove(second, { graceSeconds: 0 })
      expect(await leftOf(one)).toEqual([])
    })

    test('another workspace whose id begins alike is left alone', async () => {
      const one = spec()
      const twin = { ...spec(), workspaceId: `${one.workspaceId.slice(0, 8)}${randomUUID().slice(8)}` }
      const id = await run(one)
      await expect(run(twin)).rejects.toMatchObject({ name: 'EngineError' })
      expect(await bench.engine.inspect(id)).toMatchObject({ running: true })
    })

    test('what a container without a server left of its network is removed at the next start', async ({ skip }) => {
      const service = bench.requireService(skip)
      const instanceId = randomUUID()
      const first = await bench.open(instanceId)
      const one = spec({ network: 'isolated' })
      const id = await first.run(one, { signal: NEVER, onCreated: async () => {} })
      await first.close()
      await service.removeContainer(id)
      await bench.open(instanceId)
      expect(await service.networksOf(one.workspaceId)).toEqual([])
    })

    test('a stop lets programs end, and kills those that do not', async () => {
      const [polite, deaf] = [await run(spec()), await run(spec())]
      const say = `
        const { writeFileSync } = await load('node:fs')
        process.prependListener('SIGTERM', () => writeFileSync('/home/bye', 'bye'))`
      await inside(polite, say)
      await inside(deaf, `process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => {})`)
      const workspaceId = (await bench.engine.inspect(polite))?.workspaceId ?? ''
      onTestFinished(() => bench.engine.homes.remove(workspaceId))
      await Promise.all([polite, deaf].map((id) => bench.engine.remove(id, { graceSeconds: 1 })))
      const names: string[] = []
      for await (const { name } of bench.engine.homes.walk(workspaceId)) names.push(name)
      expect([names, await bench.engine.list()]).toEqual([['bye'], []])
    })
  })
}
