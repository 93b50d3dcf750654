import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { ContainerEngine, ContainerId, ContainerSpec, EngineSupport } from '../container-engine.ts'
import { containerSpec } from './container-spec.ts'
import type { EngineHost, EngineKind, EngineService } from './engine-kind.ts'
import { NEVER } from './probes.ts'

type Skip = (note: string) => never

/** What the tests of one kind share. */
export type EngineBench = ReturnType<typeof useEngine>

/** Starts a kind for the tests of the surrounding `describe`, and removes whatever they leave. */
export function useEngine(kind: EngineKind) {
  const started: { host: EngineHost; engine: ContainerEngine }[] = []
  const hosts: EngineHost[] = []
  const opened: ContainerEngine[] = []
  const current = () => {
    const [only] = started
    if (!only) throw new Error('the engine is not started yet')
    return only
  }

  beforeAll(async () => {
    const host = await kind.start()
    hosts.push(host)
    const engine = await host.open()
    opened.push(engine)
    started.push({ host, engine })
  })
  afterEach(async () => {
    const { engine } = current()
    for (const { id } of await engine.list()) await engine.remove(id, { graceSeconds: 0 })
  })
  afterAll(async () => {
    for (const engine of opened.splice(0)) await engine.close()
    for (const host of hosts.splice(0)) await host.stop()
  })

  const spec = (changes: Partial<ContainerSpec> = {}): ContainerSpec =>
    containerSpec({ slug: 'test-of-an-engine', image: current().host.image, hostname: 'test-host', ...changes })
  const inside = (id: ContainerId, code: string): Promise<unknown> =>
    current().host.evaluate(current().engine, id, code)
  const requireSupport = (name: keyof EngineSupport, skip: Skip): void => {
    const { engine } = current()
    if (!engine.supports[name]) skip(`${engine.name} does not support ${name}`)
  }

  return {
    get host() {
      return current().host
    },
    get engine() {
      return current().engine
    },
    spec,
    inside,
    requireSupport,
    /** Another server's engine, or the same server's again. */
    async open(instanceId?: string): Promise<ContainerEngine> {
      const engine = await current().host.open(instanceId)
      opened.push(engine)
      return engine
    },
    run(changes?: Partial<ContainerSpec>): Promise<ContainerId> {
      return current().engine.run(spec(changes), { signal: NEVER, onCreated: async () => {} })
    },
    read(id: ContainerId, path: string): Promise<unknown> {
      return inside(id, `return (await load('node:fs')).readFileSync(${JSON.stringify(path)}, 'utf8')`)
    },
    requireOwnNetwork(skip: Skip): void {
      requireSupport('networks', skip)
      const { engine } = current()
      if (engine.supports.hostNetwork) skip(`${engine.name} shares the network of the host`)
    },
    requireService(skip: Skip): EngineService {
      const { host, engine } = current()
      return host.service ?? skip(`${engine.name} has no service of its own`)
    },
    /** Whatever is still named after a workspace, in the engine or on disk, but for its home. */
    async leftOf({ workspaceId }: ContainerSpec): Promise<string[]> {
      const { host, engine } = current()
      const containers = (await engine.list()).filter((state) => state.workspaceId === workspaceId)
      const files = await readdir(host.folder, { recursive: true })
      return [
        ...containers.map(({ id }) => id),
        ...files.filter((name) => name.includes(workspaceId) && !name.includes('/workspaces/')),
        ...((await host.service?.networksOf(workspaceId)) ?? []),
      ]
    },
  }
}
