import { randomUUID } from 'node:crypto'
import { chmod, copyFile, link, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { loadSettings } from '../config/load-settings.ts'
import type { ContainerEngine } from '../engine/container-engine.ts'
import { LocalEngine, type LocalEngineOptions } from '../engine/local/local-engine.ts'
import { ContainerEventStore } from '../features/container-events/container-event-store.ts'
import { ContainerEvents } from '../features/container-events/container-events.ts'
import { Lifecycle, type LifecycleParts } from '../features/lifecycle/lifecycle.ts'
import type { LifecycleNews } from '../features/lifecycle/lifecycle-news.ts'
import type { RunningWorkspace } from '../features/lifecycle/running-container.ts'
import { HostedPorts } from '../features/ports/hosted-ports.ts'
import { PortStore } from '../features/ports/port-store.ts'
import { Tokens } from '../features/sessions/tokens.ts'
import { WorkspaceTokens } from '../features/workspace-tokens/workspace-tokens.ts'
import { checkMounts, mountRulesOf } from '../features/workspaces/mounts.ts'
import type { Workspace } from '../features/workspaces/workspace.ts'
import { PLAIN } from '../features/workspaces/workspace-configuration.ts'
import { WorkspaceStore } from '../features/workspaces/workspace-store.ts'
import { Workspaces } from '../features/workspaces/workspaces.ts'
import { Announcer } from '../kernel/announcer.ts'
import { systemClock } from '../kernel/clock.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'

/** Built by `node packages/agent/build.mjs`. */
export const AGENT_DIR = join(import.meta.dirname, '../../../agent/dist')

/** An agent that first does what `script` says. */
export async function agentWith(script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-agent-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of await readdir(AGENT_DIR)) {
    const [from, to] = [join(AGENT_DIR, name), join(folder, name)]
    await link(from, to).catch(() => copyFile(from, to)) // on another file system
  }
  await rm(join(folder, 'agent.mjs'))
  await writeFile(join(folder, 'agent.mjs'), `${script}\n${await readFile(join(AGENT_DIR, 'agent.mjs'), 'utf8')}`)
  await chmod(folder, 0o755)
  return folder
}

export interface MachineOptions {
  readonly agentDir?: string
  /** The local engine, unless given. */
  readonly openEngine?: (options: LocalEngineOptions) => Promise<ContainerEngine>
}

/**
 * A machine with a database and the local engine, on which one server after the other can run. Everything on it is
 * removed when the test ends. Only the clock of the servers is the test's to move; the engine's is real.
 *
 *     const machine = await openMachine()
 *     const { id } = await machine.workspace()
 *     const { lifecycle, news } = await machine.boot()
 *     await lifecycle.start(id, { cause: 'api', actor: SYSTEM })
 */
export async function openMachine(
  env: Record<string, string> = {},
  { agentDir = AGENT_DIR, openEngine = LocalEngine.open }: MachineOptions = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-machine-'))
  const [stateDir, dataDir] = [join(folder, 'state'), join(folder, 'data')]
  const load = async (more: Record<string, string>) => {
    const all = { SVCD_STATE_DIR: stateDir, SVCD_DATA_DIR: dataDir, SVCD_CONFIG_DIR: folder, ...env, ...more }
    return (await loadSettings({ env: all, config: 'none' })).settings
  }
  let settings = await load({})
  const clock = new FakeClock()
  const log = new MemoryLog()
  const storage = await openSqlite({ dataDir: folder, clock, logger: log })
  const engine = await openEngine({ stateDir, dataDir, agentDir, clock: systemClock, log })
  const store = new WorkspaceStore()
  const lifecycles: Lifecycle[] = []

  onTestFinished(async () => {
    for (const lifecycle of lifecycles) await lifecycle.end()
    for (const { id } of await engine.list()) await engine.remove(id, { graceSeconds: 0 })
    await engine.close()
    await storage.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function owner(name = 'ann'): Promise<string> {
    const id = randomUUID()
    await storage.db
      .insertInto('users')
      .values({
        id,
        email: `${name}-${id}@example.com`,
        handle: id.slice(0, 8),
        verified: 1,
        provider: 'local',
        created_at: 0,
      })
      .execute()
    return id
  }
  const ann = await owner()

  /** A new workspace, of one and the same owner unless given. */
  async function workspace(given: Partial<Workspace> = {}): Promise<Workspace> {
    const made: Workspace = {
      ...PLAIN,
      id: randomUUID(),
      ownerId: ann,
      name: `workspace ${randomUUID()}`,
      containerId: null,
      numPorts: 2,
      egressMode: 'allow',
      createdAt: clock.nowMs() / 1000,
      ...given,
    }
    await storage.transaction((tx) => store.insert(tx, made))
    return made
  }

  /** A server on this machine; it has not begun yet. */
  function server(changed: Partial<LifecycleParts> = {}) {
    const workspaces = new Workspaces({ storage, store })
    const tokens = new Tokens({ secret: () => 'x'.repeat(32), issuer: 'this machine', clock })
    const lifetimeHours = () => settings.auth.workspaceTokenHours
    const workspaceTokens = new WorkspaceTokens({ tokens, workspaces, lifetimeHours, clock })
    const { containerEventsRetentionDays: days, containerEventsRowCap: rowCap } = settings.audit
    const eventStore = new ContainerEventStore(storage)
    const events = new ContainerEvents({ store: eventStore, retention: () => ({ days, rowCap }), clock, log })
    const ports = new HostedPorts({ storage, store: new PortStore(), settings: () => settings.hosting })
    const news: LifecycleNews[] = []
    const lifecycle = new Lifecycle({
      engine,
      workspaces,
      ports,
      events,
      tokens: workspaceTokens,
      volumes: { ensureFor: async () => undefined },
      images: {
        nameFor: (image) => image ?? 'default',
        requireAllowed: () => undefined,
        progress: new Announcer(),
        ensurePresent: async () => undefined,
      },
      mounts: (mounts) => checkMounts(mounts, mountRulesOf(settings, [])),
      settings: () => settings,
      hasClients: () => false,
      clock,
      log,
      random: () => 0.5,
      ...changed,
    })
    lifecycle.news.subscribe((item) => news.push(item))
    lifecycles.push(lifecycle)
    return { lifecycle, news, events, ports, workspaces, tokens: workspaceTokens }
  }

  return {
    folder,
    clock,
    log,
    storage,
    engine,
    owner,
    workspace,
    server,
    /** As a reload does it. */
    async reconfigure(more: Record<string, string>) {
      settings = await load(more)
    },
    /** A server that has begun. */
    async boot(changed: Partial<LifecycleParts> = {}) {
      const made = server(changed)
      await made.lifecycle.begin()
      return made
    },
    /** The row as it is now. */
    async row(id: string): Promise<Workspace> {
      const found = await store.find(storage.db, id)
      if (!found) throw new Error('there is no such workspace')
      return found
    },
    change: (id: string, change: Partial<Workspace>) => store.update(storage.db, id, change),
    /** What was recorded of the containers, the oldest first: `start api`, `stop idle_timeout`. */
    async recorded(id: string): Promise<string[]> {
      const rows = await storage.db
        .selectFrom('container_events')
        .selectAll()
        .where('workspace_id', '=', id)
        .orderBy('id')
        .execute()
      return rows.map(({ event, cause }) => `${event} ${cause}`)
    },
  }
}

/** An engine but for what is changed of it. */
export function engineWith(engine: ContainerEngine, changed: Partial<ContainerEngine>): ContainerEngine {
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Runs a shell command in a workspace; answers what it wrote. */
export async function run(running: RunningWorkspace, command: string): Promise<string> {
  const exec = running.agent.exec({ argv: ['sh', '-c', command], login: false, cwd: '/home/svc', env: {} })
  exec.stdin.end()
  return (await text(exec.stdout)).trim()
}

export type Machine = Awaited<ReturnType<typeof openMachine>>
