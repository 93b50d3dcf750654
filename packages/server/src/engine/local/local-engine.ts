import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { pause } from '../../kernel/pause.ts'
import { connectToAgent } from '../agent-socket.ts'
import {
  type ContainerEngine,
  type ContainerId,
  type ContainerMount,
  type ContainerSpec,
  type ContainerState,
  EngineError,
  type EngineListener,
  type EngineSupport,
} from '../container-engine.ts'
import { HeldSources } from '../held-sources.ts'
import { HostHomes, type Owner } from '../host-homes/host-homes.ts'
import { Bubblewrap } from './bubblewrap.ts'
import { Deaths } from './deaths.ts'
import { endProcesses } from './end-processes.ts'
import { localImages } from './local-images.ts'
import { LocalVolumes } from './local-volumes.ts'
import { identifyProcess, isAlive } from './process-identity.ts'
import { type ProcessRecord, ProcessRecords } from './process-record.ts'
import { readLogEnd } from './read-log-end.ts'
import { type Sandbox, WORKSPACE_ID } from './sandbox.ts'
import { readSandboxStatus } from './sandbox-status.ts'
import { startSandbox } from './start-sandbox.ts'
import { UnshareSandbox } from './unshare-sandbox.ts'
import { LAUNCH_SCRIPT, WorkspaceDirectory } from './workspace-directory.ts'

const RETRY_CONNECT_MS = 10

export interface LocalEngineOptions {
  readonly stateDir: string
  readonly dataDir: string
  /** Holds `node`, `agent.mjs` and `pty.node`; read-only at `/opt/svc` in every workspace. */
  readonly agentDir: string
  /** The real one: it times real processes. */
  readonly clock: Clock
  readonly log: Logger
}

interface Parts extends LocalEngineOptions {
  readonly sandbox: Sandbox
  /** Undefined when the server is not root: everything is its own user's then. */
  readonly owner: Owner | undefined
}

/** Workspaces as processes of this machine, in namespaces of their own. What it does not keep apart: `localLimits`. */
export class LocalEngine implements ContainerEngine {
  readonly name: string
  readonly supports: EngineSupport
  readonly privatePaths: readonly string[] = []
  /** They come from this machine's own addresses, as its people do. */
  readonly containerSubnets: readonly string[] = []
  readonly homes: HostHomes
  readonly volumes: LocalVolumes
  readonly images = localImages
  readonly #parts: Parts
  readonly #records: ProcessRecords
  readonly #deaths: Deaths

  private constructor(parts: Parts) {
    const { sandbox, dataDir, stateDir, owner, clock, log } = parts
    this.#parts = parts
    this.name = `local processes (${sandbox.name})`
    this.supports = {
      images: false,
      userNamespaces: false,
      limits: false,
      networks: sandbox.hasNetworks,
      hostNetwork: true,
      volumes: true,
    }
    this.homes = new HostHomes({ root: join(dataDir, 'workspaces'), owner })
    this.#records = new ProcessRecords(join(stateDir, 'local'))
    this.volumes = new LocalVolumes({
      root: join(dataDir, 'volumes'),
      owner,
      clock,
      inUse: async () => new Set((await this.#running()).flatMap((record) => record.volumes)),
    })
    this.#deaths = new Deaths({ clock, onDeath: (record) => endProcesses(record, 0, clock), log })
  }

  /** Throws `EngineError` where this machine has no program that makes namespaces, or does not allow it. */
  static async open(options: LocalEngineOptions, sandboxes = [Bubblewrap, UnshareSandbox]): Promise<LocalEngine> {
    const isRoot = process.getuid?.() === 0
    const sandbox = await findSandbox(sandboxes, isRoot)
    if (!sandbox) {
      throw new EngineError('unavailable', 'neither bwrap nor unshare can make namespaces on this machine')
    }
    return new LocalEngine({
      ...options,
      sandbox,
      owner: isRoot ? { uid: WORKSPACE_ID, gid: WORKSPACE_ID } : undefined,
    })
  }

  async run(
    spec: ContainerSpec,
    { signal, onCreated }: { signal: AbortSignal; onCreated(id: ContainerId): Promise<void> },
  ): Promise<ContainerId> {
    const { workspaceId, role } = spec
    if (spec.network === 'none' && !this.supports.networks) {
      throw new EngineError('failed', 'This machine cannot keep a local workspace from the network')
    }
    const earlier = await this.#records.find(workspaceId)
    if (earlier && (await isAlive(earlier.main))) throw new EngineError('failed', 'The workspace is running already')
    const id = `${workspaceId}.${randomBytes(4).toString('hex')}`
    await using held = await HeldSources.hold(spec.mounts)
    await this.homes.ensure(workspaceId)
    await this.#makeMountPoints(spec)
    const directory = this.#directoryOf(workspaceId)
    const files = await directory.make(spec)
    const sandbox = await startSandbox({
      command: await this.#parts.sandbox.command({
        hostname: spec.hostname,
        network: spec.network,
        tmpBytes: spec.limits.tmpBytes,
        files,
        mounts: [
          { source: this.#parts.agentDir, target: '/opt/svc', readOnly: true },
          { source: this.homes.pathOf(workspaceId), target: '/home', readOnly: false },
          { source: directory.socketDirectory, target: '/run/svc', readOnly: false },
          ...spec.mounts.map((mount) => this.#hostMount(mount)),
        ],
        hidden: [this.#parts.stateDir, this.#parts.dataDir],
        emptyDirectory: directory.emptyDirectory,
        script: LAUNCH_SCRIPT,
      }),
      logFile: directory.log,
      statusFile: directory.status,
      signal,
      clock: this.#parts.clock,
    }).catch(async (error) => {
      await directory.remove()
      throw error
    })
    sandbox.child.once('exit', () => void this.#deaths.look())
    let record: ProcessRecord | undefined
    try {
      record = await this.#recordOf({ id, workspaceId, role, pid: sandbox.child.pid, mounts: spec.mounts })
      await held.requireMounted((record.init ?? record.main).pid)
      await this.#records.write(record)
      await onCreated(id)
      signal.throwIfAborted()
      await sandbox.proceed()
      this.#deaths.expect(record)
    } catch (error) {
      // One that was let begin does not end by being left alone.
      if (record) await endProcesses(record, 0, this.#parts.clock)
      await sandbox.abandon()
      await this.#forget(workspaceId)
      throw error
    }
    return id
  }

  async connect(id: ContainerId, signal: AbortSignal): Promise<Duplex> {
    const record = await this.#find(id)
    if (!record) throw new EngineError('not_running', `there is no workspace ${id} here`)
    const { socketDirectory, log } = this.#directoryOf(record.workspaceId)
    for (;;) {
      signal.throwIfAborted()
      const socket = await connectToAgent(socketDirectory)
      if (socket) {
        if (signal.aborted) socket.destroy()
        signal.throwIfAborted()
        // Mostly the agent ended, and with it the workspace.
        socket.once('close', () => void this.#deaths.look())
        return socket
      }
      if (!(await isAlive(record.main))) {
        throw new EngineError('not_running', `the workspace has ended: ${await readLogEnd(log)}`)
      }
      await pause(this.#parts.clock, RETRY_CONNECT_MS, signal)
    }
  }

  async remove(id: ContainerId, { graceSeconds }: { graceSeconds: number }): Promise<void> {
    const record = await this.#find(id)
    if (!record) return
    await endProcesses(record, graceSeconds, this.#parts.clock)
    await this.#deaths.look()
    // Another may have been started in its place meanwhile.
    if (await this.#find(id)) await this.#forget(record.workspaceId)
  }

  async inspect(id: ContainerId): Promise<ContainerState | undefined> {
    const record = await this.#find(id)
    return record && this.#stateOf(record)
  }

  async list(): Promise<ContainerState[]> {
    return Promise.all((await this.#records.list()).map((record) => this.#stateOf(record)))
  }

  watch(listener: EngineListener, signal: AbortSignal): void {
    this.#deaths.listen(listener, signal)
    // Those of an earlier server.
    this.#running().then(
      (records) => {
        for (const record of records) this.#deaths.expect(record)
      },
      (error: unknown) => this.#parts.log.error('workspaces of an earlier server are not watched', { error }),
    )
  }

  async close(): Promise<void> {
    this.#deaths.close()
  }

  async #recordOf(parts: {
    id: string
    workspaceId: string
    role: ContainerSpec['role']
    pid: number | undefined
    mounts: readonly ContainerMount[]
  }): Promise<ProcessRecord> {
    const { id, workspaceId, role, pid, mounts } = parts
    const { initPid } = await readSandboxStatus(this.#directoryOf(workspaceId).status)
    const main = pid === undefined ? undefined : await identifyProcess(pid)
    const init = initPid === undefined ? undefined : await identifyProcess(initPid)
    if (!main || !init) throw new EngineError('failed', 'the workspace ended while it was being started')
    const volumes = mounts.flatMap((mount) => (mount.kind === 'volume' ? [mount.name] : []))
    return { id, workspaceId, role, main, init, startedAt: Math.floor(this.#parts.clock.nowMs() / 1000), volumes }
  }

  async #running(): Promise<ProcessRecord[]> {
    const records = await this.#records.list()
    const alive = await Promise.all(records.map(({ main }) => isAlive(main)))
    return records.filter((_, index) => alive[index])
  }

  async #stateOf({ id, workspaceId, role, main, startedAt }: ProcessRecord): Promise<ContainerState> {
    const running = await isAlive(main)
    const { exitCode } = running
      ? { exitCode: undefined }
      : await readSandboxStatus(this.#directoryOf(workspaceId).status)
    return { id, workspaceId, role, running, exitCode, outOfMemory: false, startedAt }
  }

  async #find(id: ContainerId): Promise<ProcessRecord | undefined> {
    const records = await this.#records.list()
    return records.find((record) => record.id === id)
  }

  async #forget(workspaceId: string): Promise<void> {
    await this.#directoryOf(workspaceId).remove()
    await this.#records.remove(workspaceId)
  }

  #directoryOf(workspaceId: string): WorkspaceDirectory {
    const { stateDir, owner } = this.#parts
    return new WorkspaceDirectory({
      path: join(stateDir, 'local', workspaceId),
      socketDirectory: join(stateDir, 'agents', workspaceId),
      trash: join(stateDir, 'removed'),
      owner,
    })
  }

  /** Below the home they would be made as the server's, and through links. */
  async #makeMountPoints({ workspaceId, mounts }: ContainerSpec): Promise<void> {
    const writer = this.homes.writer(workspaceId)
    for (const mount of mounts.filter(({ target }) => target.startsWith('/home/'))) {
      const isFile = mount.kind === 'host' && !(await stat(mount.source)).isDirectory()
      const name = mount.target.slice('/home/'.length)
      const directory = isFile ? name.split('/').slice(0, -1).join('/') : name
      if (directory !== '') await writer.directory(directory, 0o755)
    }
    await writer.finish()
  }

  #hostMount(mount: ContainerMount): { source: string; target: string; readOnly: boolean } {
    const { target, readOnly } = mount
    return { source: mount.kind === 'host' ? mount.source : this.volumes.pathOf(mount.name), target, readOnly }
  }
}

/** The first that works here. */
async function findSandbox(
  sandboxes: readonly { find(isRoot: boolean): Promise<Sandbox | undefined> }[],
  isRoot: boolean,
): Promise<Sandbox | undefined> {
  for (const kind of sandboxes) {
    const sandbox = await kind.find(isRoot)
    if (sandbox) return sandbox
  }
  return undefined
}
