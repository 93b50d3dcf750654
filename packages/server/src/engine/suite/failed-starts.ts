import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ContainerSpec } from '../container-engine.ts'
import type { EngineBench } from './engine-bench.ts'
import { NEVER } from './probes.ts'

export function failedStartTests(bench: EngineBench): void {
  const { spec, run, leftOf, requireSupport, requireOwnNetwork } = bench

  describe('a start that fails', () => {
    const failing = async (one: ContainerSpec, signal: AbortSignal, onCreated = async () => {}) => {
      const error: unknown = await bench.engine.run(one, { signal, onCreated }).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(await leftOf(one)).toEqual([])
      return error
    }

    test('an image that is not there: no_image, and nothing is left', async ({ skip }) => {
      requireSupport('images', skip)
      const one = spec({ image: 'localhost/no-such-image:1', network: 'isolated', env: { SECRET: 'hunter2hunter2' } })
      expect(await failing(one, NEVER)).toMatchObject({ fault: 'no_image' })
    })

    test('a port that is taken: port_in_use, and nothing is left', async ({ skip }) => {
      requireOwnNetwork(skip)
      const holder = createServer().listen(0, '127.0.0.1')
      onTestFinished(() => void holder.close())
      await new Promise((resolve) => holder.once('listening', resolve))
      const taken = holder.address()
      const host = typeof taken === 'object' && taken ? taken.port : 0
      const one = spec({ network: 'isolated', ports: [{ host, container: 8000 }] })
      expect(await failing(one, NEVER)).toMatchObject({ fault: 'port_in_use' })
    })

    test('a directory that is not there: failed, and nothing is left', async () => {
      const mounts = [{ kind: 'host', source: '/no/such/directory', target: '/mnt/x', readOnly: false }] as const
      const secret = 'hunter2hunter2'
      const error = await failing(spec({ mounts, env: { SECRET: secret } }), NEVER)
      expect(error).toMatchObject({ name: 'EngineError', message: expect.not.stringContaining(secret) })
    })

    test('an image in which the agent cannot run says so, without a wait', async ({ skip }) => {
      requireSupport('images', skip)
      const id = await run({ image: bench.host.emptyImage })
      await expect(bench.engine.connect(id, AbortSignal.timeout(10_000))).rejects.toMatchObject({
        fault: 'unusable_image',
        message: expect.stringContaining('GNU C library'),
      })
    })

    test('given up before it began, at its creation, or during the start: nothing is left', async () => {
      expect(await failing(spec(), AbortSignal.abort(new Error('given up')))).toMatchObject({ message: 'given up' })
      const created = new AbortController()
      const atCreation = async () => created.abort(new Error('given up'))
      expect(await failing(spec(), created.signal, atCreation)).toMatchObject({ message: 'given up' })
      const started = new AbortController()
      const duringStart = async () => void setImmediate(() => started.abort(new Error('given up')))
      const one = spec({ network: bench.engine.supports.networks ? 'isolated' : 'none' })
      expect(await failing(one, started.signal, duringStart)).toMatchObject({ message: 'given up' })
    })

    test('a caller who cannot write down the id: nothing is left', async () => {
      const refuse = async () => {
        throw new Error('the database is away')
      }
      expect(await failing(spec(), NEVER, refuse)).toMatchObject({ message: 'the database is away' })
    })
  })
}
