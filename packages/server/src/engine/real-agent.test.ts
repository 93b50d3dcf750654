import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { AgentClient } from '../agent/agent-client.ts'
import { engineKinds } from '../testing/engines.ts'
import type { ContainerSpec } from './container-engine.ts'
import type { EngineHost } from './suite/engine-kind.ts'

const agentDir = join(import.meta.dirname, '../../../agent/dist')
const isBuilt = existsSync(join(agentDir, 'agent.mjs'))

for (const kind of engineKinds) {
  const missing = kind.missing ?? (isBuilt ? undefined : 'the agent is not built')
  const title = missing === undefined ? kind.name : `${kind.name} (left out: ${missing})`
  describe.skipIf(missing !== undefined)(`${title}: the real agent`, () => {
    const hosts: EngineHost[] = []
    beforeAll(async () => void hosts.push(await kind.start({ agentDir })))
    afterAll(async () => {
      for (const host of hosts) await host.stop()
    })

    test.each(['none', 'isolated'] as const)('greets a server, and a second one, with network %s', async (network) => {
      const [host] = hosts
      if (!host) throw new Error('the engine was not started')
      const engine = await host.open()
      onTestFinished(() => engine.close())
      const id = await engine.run(
        { ...plainSpec, workspaceId: randomUUID(), image: host.image, network },
        { signal: AbortSignal.timeout(20_000), onCreated: async () => {} },
      )
      onTestFinished(() => engine.remove(id, { graceSeconds: 1 }))
      const signal = AbortSignal.timeout(20_000)
      const first = await AgentClient.connect(await engine.connect(id, signal), { signal })
      const second = await AgentClient.connect(await engine.connect(id, signal), { signal })
      await first.ping()
      expect([first.isReady, second.bootId]).toEqual([false, first.bootId])
      first.close()
      second.close()
    })
  })
}

const plainSpec: Omit<ContainerSpec, 'workspaceId' | 'image' | 'network'> = {
  role: 'workspace',
  slug: 'agent',
  hostname: 'agent',
  env: {},
  limits: { cpus: 1, memoryBytes: 512 * 1024 * 1024, pids: 256, tmpBytes: 64 * 1024 * 1024 },
  ports: [],
  dns: { servers: [], search: [] },
  mounts: [],
  sudo: false,
}
