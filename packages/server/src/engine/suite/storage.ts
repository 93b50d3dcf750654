import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { EngineBench } from './engine-bench.ts'

export function storageTests(bench: EngineBench): void {
  const { run, inside, read, open, requireSupport, requireService } = bench

  describe('volumes and images', () => {
    const newVolume = async (workspaceId = randomUUID()) => {
      const volume = await bench.engine.volumes.create(`svc-test-${randomUUID()}`, workspaceId)
      onTestFinished(async () => void (await bench.engine.volumes.remove(volume.name)))
      return volume
    }

    test('a volume is listed with its workspace, and gone when it was removed', async () => {
      const workspaceId = randomUUID()
      const volume = await newVolume(workspaceId)
      expect(volume.workspaceId).toBe(workspaceId)
      expect(Math.abs(volume.createdAt - Date.now() / 1000)).toBeLessThan(60)
      expect(await bench.engine.volumes.list()).toEqual([volume])
      expect(await bench.engine.volumes.find(volume.name)).toEqual(volume)
      expect(await bench.engine.volumes.remove(volume.name)).toBe(true)
      expect([await bench.engine.volumes.list(), await bench.engine.volumes.find(volume.name)]).toEqual([[], undefined])
    })

    test('what is in a volume outlives the container, and one in use is not removed', async () => {
      const { name } = await newVolume()
      const mounts = [{ kind: 'volume', name, target: '/data', readOnly: false }] as const
      const first = await run({ mounts })
      await inside(first, `(await load('node:fs')).writeFileSync('/data/kept', 'kept')`)
      expect(await bench.engine.volumes.remove(name)).toBe(false)
      await bench.engine.remove(first, { graceSeconds: 0 })
      const second = await run({ mounts: [{ ...mounts[0], readOnly: true }] })
      expect(await read(second, '/data/kept')).toBe('kept')
      await expect(inside(second, `(await load('node:fs')).writeFileSync('/data/new', '')`)).rejects.toThrow('EROFS')
      await bench.engine.remove(second, { graceSeconds: 0 })
      expect(await bench.engine.volumes.remove(name)).toBe(true)
    })

    test('a new volume belongs to the workspace’s user', async () => {
      const { name } = await newVolume()
      const id = await run({ mounts: [{ kind: 'volume', name, target: '/data', readOnly: false }] })
      expect(await inside(id, `return (await load('node:fs')).statSync('/data').uid`)).toBe(1000)
      await bench.engine.remove(id, { graceSeconds: 0 })
    })

    test('a volume that is not ours is foreign, and cannot be made ours', async ({ skip }) => {
      const service = requireService(skip)
      const other = await open()
      const { name } = await newVolume()
      expect([await other.volumes.find(name), await other.volumes.list()]).toEqual(['foreign', []])
      const unlabelled = `svc-test-${randomUUID()}`
      await service.makeVolume(unlabelled)
      onTestFinished(() => service.removeVolume(unlabelled))
      expect(await bench.engine.volumes.find(unlabelled)).toBe('foreign')
      await expect(bench.engine.volumes.create(unlabelled, randomUUID())).rejects.toThrow('could not make the volume')
    })

    test('images that are there are found, and others are not', async ({ skip }) => {
      requireSupport('images', skip)
      expect(await bench.engine.images.has(bench.host.image)).toBe(true)
      expect(await bench.engine.images.has('localhost/no-such-image:1')).toBe(false)
    })

    test('an image that cannot be fetched is an error', async ({ skip }) => {
      requireSupport('images', skip)
      const pull = bench.engine.images.pull('127.0.0.1:1/no/such:1', { signal: AbortSignal.timeout(20_000) })
      await expect(pull).rejects.toThrow('could not fetch the image 127.0.0.1:1/no/such:1')
    })
  })
}
