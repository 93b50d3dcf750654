import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentClient } from '@svc/server/agent/agent-client'
import { loadSettings } from '@svc/server/config/load-settings'
import { containerSpec } from '@svc/server/engine/suite/container-spec'
import { systemClock } from '@svc/server/kernel/clock'
import type { Logger } from '@svc/server/kernel/logger'
import { openEngine } from '@svc/server/process/open-engine'
import { IMAGE } from './workspace-server.ts'

const silent: Logger = { debug() {}, info() {}, warning() {}, error() {}, critical() {}, child: () => silent }

/** A workspace on Podman without a server around it: its container and its agent. */
export async function runWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const env = {
    PATH: process.env.PATH ?? '',
    SVCD_STATE_DIR: join(folder, 'state'),
    SVCD_DATA_DIR: join(folder, 'data'),
    SVCD_CONFIG_DIR: folder,
    SVCD_ENGINE: 'docker',
  }
  const { settings } = await loadSettings({ env, config: 'none' })
  const engine = await openEngine(settings, { instanceId: randomUUID(), clock: systemClock, log: silent })
  const signal = AbortSignal.timeout(60_000)
  const id = await engine.run(spec(), { signal, onCreated: async () => {} })
  const agent = await AgentClient.connect(await engine.connect(id, signal), { signal })
  await agent.setup({ sudo: false, service_command: null, token: null, env: {} })
  return {
    id,
    agent,
    async end() {
      agent.close()
      await engine.remove(id, { graceSeconds: 0 })
      await engine.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const spec = () =>
  containerSpec({
    image: IMAGE,
    limits: { cpus: 2, memoryBytes: 1024 ** 3, pids: 1024, tmpBytes: 64 * 1024 ** 2 },
  })
