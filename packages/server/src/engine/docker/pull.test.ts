import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ImageSettings, Images } from '../../features/images/images.ts'
import { systemClock } from '../../kernel/clock.ts'
import { DockerDaemon } from '../../testing/docker-daemon.ts'
import { removeImage } from '../../testing/engine-images.ts'
import { engineKinds } from '../../testing/engines.ts'
import { type ImageRegistry, registryMissing, startImageRegistry } from '../../testing/image-registry.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import type { ContainerEngine } from '../container-engine.ts'
import { type DockerOptions, openDocker } from './open-docker.ts'

const patience = () => AbortSignal.timeout(20_000)

/** How an engine is made that takes images from this registry, which has no encryption. */
type Reach = (
  folder: string,
  registry: ImageRegistry,
  undo: AsyncDisposableStack,
) => Promise<Pick<DockerOptions, 'sockets' | 'podmanBin' | 'environment'>>

/** It trusts registries on loopback anyway. */
const reachDocker: Reach = async (folder, _registry, undo) => {
  await chmod(folder, 0o711)
  const daemon = await DockerDaemon.start(folder)
  undo.defer(() => daemon.stop())
  return { sockets: [daemon.socketPath], podmanBin: undefined, environment: {} }
}

const reachPodman: Reach = async (folder, { address, stuckAddress }) => {
  const file = join(folder, 'registries.conf')
  const entries = [address, stuckAddress].map((location) => `[[registry]]\nlocation = "${location}"\ninsecure = true\n`)
  await writeFile(file, entries.join('\n'))
  return { sockets: [], podmanBin: 'podman', environment: { ...process.env, CONTAINERS_REGISTRIES_CONF: file } }
}

for (const [name, reach] of Object.entries({ docker: reachDocker, podman: reachPodman })) {
  const missing = registryMissing ?? engineKinds.find((kind) => kind.name === name)?.missing
  const title = missing === undefined ? name : `${name} (left out: ${missing})`
  describe.skipIf(missing !== undefined)(title, () => {
    const undo = new AsyncDisposableStack()
    let registry: ImageRegistry
    let engine: ContainerEngine

    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-pull-'))
      undo.defer(() => rm(folder, { recursive: true }))
      registry = await startImageRegistry()
      undo.defer(() => registry.stop())
      engine = await openDocker({
        ...(await reach(folder, registry, undo)),
        instanceId: randomUUID(),
        stateDir: join(folder, 'state'),
        dataDir: join(folder, 'data'),
        agentDir: folder,
        userns: 'keep-id:uid=1000,gid=1000',
        clock: systemClock,
        log: new MemoryLog(),
      })
      undo.defer(() => engine.close())
    })
    afterAll(() => undo.disposeAsync())

    /** An image that only the registry has, under the name of its first tag; what a test fetches of it is removed. */
    async function newImage({ tags = ['one'], address = registry.address } = {}): Promise<string> {
      const repository = `${address}/${await registry.put(...tags)}`
      onTestFinished(async () => {
        const [socketPath = ''] = engine.privatePaths
        for (const image of tags.map((tag) => `${repository}:${tag}`)) {
          if (await engine.images.has(image)) await removeImage(socketPath, image)
          expect(await engine.images.has(image)).toBe(false)
        }
      })
      return `${repository}:${tags[0]}`
    }

    test('an image comes from its registry, and what happens is told on the way', async () => {
      const image = await newImage()
      expect(await engine.images.has(image)).toBe(false)
      const told: string[] = []
      await engine.images.pull(image, { signal: patience(), onProgress: (text) => told.push(text) })
      expect(await engine.images.has(image)).toBe(true)
      expect(told).toContainEqual(expect.stringMatching(/^[0-9a-f]{12}: Pulling fs layer$/))
      expect(told).toContainEqual(expect.stringMatching(/^[0-9a-f]{12}: Download complete$/))
    })

    test('an image that is here may be fetched again', async () => {
      const image = await newImage()
      await engine.images.pull(image, { signal: patience() })
      await engine.images.pull(image, { signal: patience() })
      expect(await engine.images.has(image)).toBe(true)
    })

    test('a name without a tag means the latest, and not all there are', async () => {
      const latest = await newImage({ tags: ['latest', 'other'] })
      const repository = latest.replace(/:latest$/, '')
      await engine.images.pull(repository, { signal: patience() })
      expect(await engine.images.has(latest)).toBe(true)
      expect(await engine.images.has(`${repository}:other`)).toBe(false)
    })

    test('a tag that the registry does not have cannot be fetched, and a sentence says so', async () => {
      const image = (await newImage()).replace(/:one$/, ':two')
      await expect(engine.images.pull(image, { signal: patience() })).rejects.toMatchObject({
        name: 'EngineError',
        fault: 'no_image',
        message: expect.stringContaining(`could not fetch the image ${image}: `),
      })
      expect(await engine.images.has(image)).toBe(false)
    })

    test('a fetch that is given up in the middle ends, and leaves no image', async () => {
      const image = await newImage({ address: registry.stuckAddress })
      const givingUp = new AbortController()
      const ended = expect(engine.images.pull(image, { signal: givingUp.signal })).rejects.toThrow()
      await registry.stuck
      givingUp.abort()
      await ended
      expect(await engine.images.has(image)).toBe(false)
    })

    test('a workspace whose image is missing has it fetched, where the policy says so', async () => {
      const image = await newImage()
      const settings: ImageSettings = { imageName: image, allowedImages: [], imagePullPolicy: 'missing' }
      const images = new Images({ settings: () => settings, engine, log: new MemoryLog() })
      const told: unknown[] = []
      images.progress.subscribe((news) => told.push(news))
      await images.ensurePresent(image, patience())
      expect(await engine.images.has(image)).toBe(true)
      expect(told).toContainEqual({ image, text: expect.stringContaining('Pulling fs layer') })
    })
  })
}
