import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ContainerEngine } from '../engine/container-engine.ts'
import { openDocker } from '../engine/docker/open-docker.ts'
import { LocalEngine } from '../engine/local/local-engine.ts'
import type { EngineHost, EngineKind } from '../engine/suite/engine-kind.ts'
import { systemClock } from '../kernel/clock.ts'
import { DockerDaemon } from './docker-daemon.ts'
import { call, importImage, removeImage } from './engine-images.ts'
import { MemoryLog } from './memory-log.ts'
import { evaluate, placeStandIn } from './talk-to-stand-in.ts'

const USERNS = 'keep-id:uid=1000,gid=1000'

/** Every driver, over each engine it serves. What cannot run here says why. */
export const engineKinds: readonly EngineKind[] = [
  { name: 'podman', missing: lacking('podman', '--version'), start: startPodman },
  { name: 'docker', missing: dockerMissing(), start: startDocker },
  { name: 'local', missing: lacking('bwrap', '--version'), start: startLocal },
]

interface TestEngineOptions {
  /** Directory to mount at `/opt/svc`; the stand-in's unless given. */
  readonly agentDir?: string
}

/** Each engine has a Podman service of its own, as a server without any socket to find would have. */
async function startPodman({ agentDir }: TestEngineOptions = {}): Promise<EngineHost> {
  await using undo = new AsyncDisposableStack()
  const folder = await newFolder(undo, 'svc-engine-')
  const agent = agentDir ?? (await placeStandIn(join(folder, 'agent')))
  const serviceFolders = new Map<ContainerEngine, string>()
  const instances: string[] = []
  const open = async (instanceId: string = randomUUID()) => {
    instances.push(instanceId)
    const stateDir = join(folder, instanceId, 'state')
    const engine = await openDocker({
      ...commonOptions(instanceId),
      stateDir,
      dataDir: join(folder, instanceId, 'data'),
      agentDir: agent,
      sockets: [],
      podmanBin: 'podman',
    })
    serviceFolders.set(engine, join(stateDir, 'podman'))
    return engine
  }
  // One more, through which the tests do what others would do.
  const other = await open()
  undo.defer(() => other.close())
  const otherFolder = serviceFolders.get(other) ?? ''
  const socketPath = join(otherFolder, (await readdir(otherFolder)).find((name) => name.endsWith('.sock')) ?? '')
  const images = await testImages(undo, socketPath)
  undo.defer(() => removeContainers(socketPath, instances))
  const opened = undo.move()
  return {
    ...images,
    open,
    folder,
    evaluate,
    service: {
      ...serviceOf(socketPath),
      async kill(engine) {
        const pid = await processOf('system service', serviceFolders.get(engine) ?? 'no such folder')
        process.kill(pid, 'SIGKILL')
        await expectGone(pid)
      },
    },
    stop: () => opened.disposeAsync(),
  }
}

async function startDocker({ agentDir }: TestEngineOptions = {}): Promise<EngineHost> {
  await using undo = new AsyncDisposableStack()
  const folder = await newFolder(undo, 'svc-docker-')
  await chmod(folder, 0o711)
  const daemon = await DockerDaemon.start(folder)
  undo.defer(() => daemon.stop())
  const agent = agentDir ?? (await placeStandIn(join(folder, 'agent')))
  const images = await testImages(undo, daemon.socketPath)
  const state = await newFolder(undo, 'svc-engine-')
  const instances: string[] = []
  // Their bridges would outlive the daemon.
  undo.defer(async () => void (await call(daemon.socketPath, 'POST', '/v1.41/networks/prune')))
  undo.defer(() => removeContainers(daemon.socketPath, instances))
  const opened = undo.move()
  return {
    ...images,
    folder: state,
    evaluate,
    open(instanceId: string = randomUUID()) {
      instances.push(instanceId)
      return openDocker({
        ...commonOptions(instanceId),
        stateDir: join(state, instanceId, 'state'),
        dataDir: join(state, instanceId, 'data'),
        agentDir: agent,
        sockets: [daemon.socketPath],
        podmanBin: undefined,
      })
    },
    service: { ...serviceOf(daemon.socketPath), kill: () => daemon.restartAfterKill() },
    stop: () => opened.disposeAsync(),
  }
}

async function startLocal({ agentDir }: TestEngineOptions = {}): Promise<EngineHost> {
  await using undo = new AsyncDisposableStack()
  const folder = await newFolder(undo, 'svc-engine-')
  await chmod(folder, 0o711)
  const agent = agentDir ?? (await placeStandIn(join(folder, 'agent')))
  const opened = undo.move()
  return {
    image: 'not used',
    emptyImage: 'not used',
    folder,
    evaluate,
    open: (instanceId: string = randomUUID()) =>
      LocalEngine.open({
        stateDir: join(folder, instanceId, 'state'),
        dataDir: join(folder, instanceId, 'data'),
        agentDir: agent,
        clock: systemClock,
        log: new MemoryLog(),
      }),
    service: undefined,
    stop: () => opened.disposeAsync(),
  }
}

async function newFolder(undo: AsyncDisposableStack, prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  undo.defer(() => rm(folder, { recursive: true }))
  return folder
}

/** A removal can meet something that is still mounted. */
async function removeContainer(socketPath: string, id: string): Promise<void> {
  for (;;) {
    try {
      await call(socketPath, 'DELETE', `/v1.41/containers/${id}?force=true`)
      return
    } catch (error) {
      if (String(error).includes(': 404 ')) return
      if (!String(error).includes('busy')) throw error
      await wait(50)
    }
  }
}

/** Left by a test that failed. */
async function removeContainers(socketPath: string, instances: readonly string[]): Promise<void> {
  for (const instance of instances) {
    const filters = encodeURIComponent(JSON.stringify({ label: [`svc.instance=${instance}`] }))
    const text = await call(socketPath, 'GET', `/v1.41/containers/json?all=true&filters=${filters}`)
    const containers: { Id: string }[] = JSON.parse(text)
    for (const { Id } of containers) await removeContainer(socketPath, Id)
  }
}

function commonOptions(instanceId: string) {
  return { instanceId, userns: USERNS, environment: process.env, clock: systemClock, log: new MemoryLog() }
}

async function testImages(undo: AsyncDisposableStack, socketPath: string) {
  const names = {
    image: `localhost/svc-test-${randomUUID()}:latest`,
    emptyImage: `localhost/svc-test-${randomUUID()}:latest`,
  }
  undo.defer(async () => {
    for (const name of Object.values(names)) await removeImage(socketPath, name).catch(() => undefined)
  })
  await importImage(socketPath, names.image, 'libraries')
  await importImage(socketPath, names.emptyImage, 'empty')
  return names
}

function serviceOf(socketPath: string) {
  return {
    removeContainer: (id: string) => removeContainer(socketPath, id),
    async networksOf(workspaceId: string): Promise<string[]> {
      const filters = encodeURIComponent(JSON.stringify({ label: [`svc.workspace=${workspaceId}`] }))
      const networks: { Name: string }[] = JSON.parse(
        await call(socketPath, 'GET', `/v1.41/networks?filters=${filters}`),
      )
      return networks.map(({ Name }) => Name)
    },
    makeVolume: async (name: string) =>
      void (await call(socketPath, 'POST', '/v1.41/volumes/create', JSON.stringify({ Name: name }))),
    removeVolume: async (name: string) => void (await call(socketPath, 'DELETE', `/v1.41/volumes/${name}`)),
  }
}

function lacking(program: string, argument: string): string | undefined {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' })
    return undefined
  } catch {
    return `${program} is not installed`
  }
}

function dockerMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'a daemon of its own needs root'
  return lacking('dockerd', '--version') ?? lacking('unshare', '--version')
}

/** The process with both texts in its command line. */
async function processOf(first: string, second: string): Promise<number> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const line = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
    if (line.includes(first) && line.includes(second)) return Number(name)
  }
  throw new Error(`no process ${first} ${second}`)
}

async function expectGone(pid: number): Promise<void> {
  for (;;) {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    if (state === undefined || / Z /.test(state)) return
    await wait(5)
  }
}
