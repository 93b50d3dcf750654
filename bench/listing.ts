import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentClient } from '@svc/server/agent/agent-client'
import { loadSettings } from '@svc/server/config/load-settings'
import { systemClock } from '@svc/server/kernel/clock'
import type { Logger } from '@svc/server/kernel/logger'
import { openEngine } from '@svc/server/process/open-engine'
import { BareEngine } from './bare-engine.ts'
import type { Figure } from './figure.ts'
import { percentile } from './statistics.ts'
import { IMAGE } from './workspace-server.ts'

const FILES = 1000
const ROUNDS = 20
/** The engine still clears up after its exec when the answer is there; that is not for the next round to pay. */
const SETTLE_MS = 150
const FOLDER = '/home/svc/listed'
const silent: Logger = { debug() {}, info() {}, warning() {}, error() {}, critical() {}, child: () => silent }

/** A directory of a running workspace through its agent, and `ls -la` of it through the engine's exec, in turns. */
export async function listing(): Promise<Figure> {
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
  const bare = await new BareEngine().ready()
  const signal = AbortSignal.timeout(60_000)
  const id = await engine.run(spec(), { signal, onCreated: async () => {} })
  const agent = await AgentClient.connect(await engine.connect(id, signal), { signal })
  await agent.setup({ sudo: false, service_command: null, token: null, env: {} })
  const script = `mkdir ${FOLDER} && cd ${FOLDER} && touch file-{1..${FILES}}`
  await agent.exec({ argv: ['bash', '-c', script], login: false, cwd: '/', env: {} }).exited

  const ours: number[] = []
  const theirs: number[] = []
  for (let round = -2; round < ROUNDS; round++) {
    const ourMs = await took(async () => (await agent.files.list(FOLDER)).length)
    const theirMs = await took(async () => (await bare.exec(id, ['ls', '-la', FOLDER])).split('\n').length)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    if (round < 0) continue // the first ones warm up
    ours.push(ourMs)
    theirs.push(theirMs)
  }
  agent.close()
  await engine.remove(id, { graceSeconds: 0 })
  await bare.stop()
  await engine.close()
  rmSync(folder, { recursive: true })
  return {
    work: `listing of ${FILES} files in a workspace, p50 of ${ROUNDS}`,
    measured: `${percentile(ours, 0.5).toFixed(1)} ms`,
    baseline: `ls -la through the engine's exec: ${percentile(theirs, 0.5).toFixed(0)} ms`,
    ratio: percentile(ours, 0.5) / percentile(theirs, 0.5),
    budget: { at: 'most', ratio: 0.1 },
  }
}

async function took(list: () => Promise<number>): Promise<number> {
  const startedMs = performance.now()
  const count = await list()
  const ms = performance.now() - startedMs
  if (count < FILES) throw new Error(`only ${count} of ${FILES} files were listed`)
  return ms
}

const spec = () => ({
  workspaceId: randomUUID(),
  role: 'workspace' as const,
  slug: 'bench',
  image: IMAGE,
  hostname: 'bench',
  env: {},
  limits: { cpus: 2, memoryBytes: 1024 ** 3, pids: 1024, tmpBytes: 64 * 1024 ** 2 },
  network: 'none' as const,
  ports: [],
  dns: { servers: [], search: [] },
  mounts: [],
  sudo: false,
})
