import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { PodmanStandIn } from '../../testing/podman-stand-in.ts'
import type { ContainerEngine } from '../container-engine.ts'
import { containerSpec } from '../suite/container-spec.ts'
import { NEVER } from '../suite/probes.ts'
import { openDocker } from './open-docker.ts'

async function openStandIn(clock = systemClock) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-stand-in-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const podman = new PodmanStandIn()
  const socket = join(folder, 'podman.sock')
  await podman.listen(socket)
  onTestFinished(() => podman.close())
  const log = new MemoryLog()
  const open = async (instanceId: string): Promise<ContainerEngine> => {
    const engine = await openDocker({
      instanceId,
      stateDir: join(folder, 'state'),
      dataDir: join(folder, 'data'),
      agentDir: folder,
      sockets: [socket],
      podmanBin: undefined,
      userns: '',
      environment: {},
      clock,
      log,
    })
    onTestFinished(() => engine.close())
    return engine
  }
  return { podman, log, open, engine: await open('i1') }
}

const spec = () => containerSpec({ network: 'isolated' })
const run = (engine: ContainerEngine, one = spec()) => engine.run(one, { signal: NEVER, onCreated: async () => {} })
const IN_USE = { status: 500, body: { message: 'network is being used' } }

test('a container is removed although its network is still in use; that goes with the next one', async () => {
  const { podman, log, engine } = await openStandIn()
  const [first, second] = [await run(engine), await run(engine)]
  podman.refuse = (line) => (line.startsWith('DELETE /networks') ? IN_USE : undefined)
  await engine.remove(first, { graceSeconds: 0 })
  expect([podman.containers.has(first), podman.networks.size]).toEqual([false, 2])
  expect(log.records.map(({ message }) => message)).toContain('what a container left cannot be removed yet')
  podman.refuse = () => undefined
  await engine.remove(second, { graceSeconds: 0 })
  expect([podman.networks.size, engine.containerSubnets]).toEqual([0, []])
})

test('what is left of a workspace that was started again is not taken from it', async () => {
  const { podman, engine } = await openStandIn()
  const one = spec()
  podman.refuse = (line) => (line.startsWith('DELETE /networks') ? IN_USE : undefined)
  await engine.remove(await run(engine, one), { graceSeconds: 0 })
  podman.refuse = () => undefined
  await run(engine, one)
  await engine.remove(await run(engine), { graceSeconds: 0 })
  expect([podman.networks.size, engine.containerSubnets.length]).toEqual([1, 1])
})

test('the removal of an earlier container takes nothing from the one in its place', async () => {
  const { podman, engine } = await openStandIn()
  const one = spec()
  const [first, second] = [await run(engine, one), await run(engine, { ...one, slug: 'renamed' })]
  await engine.remove(first, { graceSeconds: 0 })
  expect([[...podman.containers.keys()], podman.networks.size]).toEqual([[second], 1])
  await engine.remove(second, { graceSeconds: 0 })
  expect([podman.containers.size, podman.networks.size]).toEqual([0, 0])
})

test('a network that cannot be removed at a start does not keep the others from it', async () => {
  const { podman, open } = await openStandIn()
  const before = await open('i2')
  const ids = [await run(before), await run(before)]
  await before.close()
  for (const id of ids) podman.containers.delete(id)
  const [stuck] = podman.networks.keys()
  podman.refuse = (line) => (line === `DELETE /networks/${stuck}` ? IN_USE : undefined)
  const engine = await open('i2')
  expect([[...podman.networks.keys()], engine.containerSubnets]).toEqual([[stuck], ['10.89.1.0/24']])
})

test.each(['POST /networks/create', 'GET /networks/json'])(
  'the subnets of all containers are known, also when the first answer to %s comes late',
  async (lateLine) => {
    const { podman, engine } = await openStandIn()
    const late = Promise.withResolvers<void>()
    const lines: string[] = []
    podman.delay = async (line) => {
      lines.push(line)
      if (line === lateLine && lines.filter((one) => one === line).length === 1) await late.promise
    }
    const first = run(engine)
    await expect.poll(() => podman.containers.size === 1 || lines.includes(lateLine)).toBe(true)
    const second = await run(engine)
    late.resolve()
    await first
    expect(engine.containerSubnets.toSorted()).toEqual(['10.89.1.0/24', '10.89.2.0/24'])
    await engine.remove(second, { graceSeconds: 0 })
    expect(engine.containerSubnets).toEqual(['10.89.1.0/24'])
  },
)

test('a start that cannot learn its subnet leaves nothing behind', async () => {
  const { podman, engine } = await openStandIn()
  podman.refuse = (line) => (/GET \/networks/.test(line) ? { status: 500 } : undefined)
  const one = spec()
  // The name is taken, so it must be looked at.
  podman.networks.set(`svc-i1-${one.workspaceId}`, { labels: {}, subnet: '10.89.9.0/24' })
  await expect(run(engine, one)).rejects.toMatchObject({ name: 'EngineError' })
  expect([podman.containers.size, podman.networks.size]).toEqual([0, 0])
})

test('a container that cannot be stopped is removed all the same, and the log says so', async () => {
  const { podman, log, engine } = await openStandIn()
  const id = await run(engine)
  podman.refuse = (line) => (line.endsWith('/stop') ? { status: 500, body: { message: 'no' } } : undefined)
  await engine.remove(id, { graceSeconds: 0 })
  expect(podman.containers.size).toBe(0)
  expect(log.records.map(({ message }) => message)).toContain('a container did not stop by itself')
})

test('an image that does not come is not waited for without end', async () => {
  const clock = new FakeClock()
  const { podman, engine } = await openStandIn(clock)
  const asked = Promise.withResolvers<void>()
  podman.delay = async (line) => {
    if (line !== 'POST /images/create') return
    asked.resolve()
    await new Promise(() => {})
  }
  const pulled = engine.images.pull('registry.example/i', { signal: NEVER })
  await asked.promise
  clock.advance(60_000)
  await expect(pulled).rejects.toMatchObject({ fault: 'failed', message: expect.stringContaining('nothing came') })
})
