import { describe, expect, test } from 'vitest'
import { type ContainerEngine, EngineError } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { type ImageSettings, Images } from './images.ts'

const patience = () => AbortSignal.timeout(10_000)

interface Fetch {
  readonly image: string
  readonly signal: AbortSignal
  readonly say: (text: string) => void
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/** An engine that has some images, and whose fetches the test brings to their end, also those given up. */
function engineWith(here: string[]) {
  const fetches: Fetch[] = []
  const images: ContainerEngine['images'] = {
    has: async (image) => here.includes(image),
    pull(image, { signal, onProgress }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      fetches.push({ image, signal, say: (text) => onProgress?.(text), done: resolve, fail: reject })
      return promise
    },
  }
  const supports = { images: true, userNamespaces: true, limits: true, networks: true, volumes: true }
  return { engine: { supports, images }, fetches }
}

function imagesOn(here: string[], changed: Partial<ImageSettings> = {}) {
  const settings: ImageSettings = {
    imageName: 'house:latest',
    allowedImages: [],
    imagePullPolicy: 'never',
    ...changed,
  }
  const { engine, fetches } = engineWith(here)
  const log = new MemoryLog()
  return { images: new Images({ settings: () => settings, engine, log }), engine, fetches, log }
}

const unreachable = new EngineError('failed', 'could not fetch the image house:latest: no such host')

describe('which images a workspace may use', () => {
  test('the list is sorted, has each image once, and always holds the default one', () => {
    const { images } = imagesOn([], { allowedImages: ['zebra:1', 'ant:1', 'house:latest', 'ant:1'] })
    expect(images.list()).toEqual({ default: 'house:latest', allowed: ['ant:1', 'house:latest', 'zebra:1'] })
  })

  test.each([null, ''])('a workspace that names none (%j) has the default image', (image) => {
    expect(imagesOn([]).images.nameFor(image)).toBe('house:latest')
  })

  test('an image that is not allowed is refused with the list of those that are', () => {
    const { images } = imagesOn([], { allowedImages: ['ant:1'] })
    expect(() => images.requireAllowed('ant:1')).not.toThrow()
    expect(() => images.requireAllowed('ant:2')).toThrow(
      new AppError('bad_request', "Image 'ant:2' is not allowed; allowed images: ant:1, house:latest"),
    )
  })
})

describe('when an image is fetched', () => {
  test.each([
    { policy: 'never', here: true, fetched: false },
    { policy: 'missing', here: true, fetched: false },
    { policy: 'missing', here: false, fetched: true },
    { policy: 'always', here: true, fetched: true },
    { policy: 'always', here: false, fetched: true },
    { policy: 'newer', here: true, fetched: true },
    { policy: 'newer', here: false, fetched: true },
  ] as const)('policy $policy, image here: $here, fetched: $fetched', async ({ policy, here, fetched }) => {
    const { images, fetches } = imagesOn(here ? ['house:latest'] : [], { imagePullPolicy: policy })
    const present = images.ensurePresent('house:latest', patience())
    if (fetched) {
      await expect.poll(() => fetches.map(({ image }) => image)).toEqual(['house:latest'])
      fetches[0]?.done()
    }
    await present
    expect(fetches).toHaveLength(fetched ? 1 : 0)
  })

  test('a default image that is missing and may not be fetched is refused with the command that builds it', async () => {
    const { images } = imagesOn([])
    await expect(images.ensurePresent('house:latest', patience())).rejects.toMatchObject({
      code: 'image_not_usable',
      message: expect.stringContaining('npm run image'),
    })
  })

  test('another image that is missing is refused without naming the command that would not build it', async () => {
    const { images } = imagesOn([], { allowedImages: ['ant:1'] })
    await expect(images.ensurePresent('ant:1', patience())).rejects.toMatchObject({
      code: 'image_not_usable',
      message: expect.not.stringContaining('npm run image'),
    })
  })

  test.each(['missing', 'always', 'newer'] as const)(
    'policy %s: a fetch that fails is a refusal that says why',
    async (policy) => {
      const { images, fetches } = imagesOn([], { imagePullPolicy: policy })
      const present = images.ensurePresent('house:latest', patience())
      await expect.poll(() => fetches.length).toBe(1)
      fetches[0]?.fail(unreachable)
      await expect(present).rejects.toMatchObject({
        code: 'image_not_usable',
        message: expect.stringMatching(/^Could not/),
      })
    },
  )

  test('policy newer: where no registry answers, the image that is here is used, and the log says so', async () => {
    const { images, fetches, log } = imagesOn(['house:latest'], { imagePullPolicy: 'newer' })
    const present = images.ensurePresent('house:latest', patience())
    await expect.poll(() => fetches.length).toBe(1)
    fetches[0]?.fail(unreachable)
    await present
    expect(log.records.filter(({ level }) => level === 'WARNING')).toHaveLength(1)
  })

  test('an engine without images is asked for none', async () => {
    const { engine, fetches } = engineWith([])
    const images = new Images({
      settings: () => ({ imageName: 'house:latest', allowedImages: [], imagePullPolicy: 'always' }),
      engine: { ...engine, supports: { ...engine.supports, images: false } },
      log: new MemoryLog(),
    })
    await images.ensurePresent('house:latest', patience())
    expect(fetches).toHaveLength(0)
  })
})

describe('several starts at once', () => {
  test('share one fetch of the same image, and its progress is announced', async () => {
    const { images, fetches } = imagesOn([], { imagePullPolicy: 'missing', allowedImages: ['ant:1'] })
    const heard: unknown[] = []
    images.progress.subscribe((news) => heard.push(news))
    const starts = ['house:latest', 'house:latest', 'ant:1'].map((image) => images.ensurePresent(image, patience()))
    await expect.poll(() => fetches.map(({ image }) => image)).toEqual(['house:latest', 'ant:1'])
    fetches[0]?.say('layer 1: pulling')
    for (const fetch of fetches) fetch.done()
    await Promise.all(starts)
    expect(heard).toEqual([{ image: 'house:latest', text: 'layer 1: pulling' }])
  })

  test('one that gives up leaves at once, and the others get their image', async () => {
    const { images, fetches } = imagesOn([], { imagePullPolicy: 'missing' })
    const impatient = new AbortController()
    const first = images.ensurePresent('house:latest', impatient.signal)
    const second = images.ensurePresent('house:latest', patience())
    await expect.poll(() => fetches.length).toBe(1)
    impatient.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    expect(fetches[0]?.signal.aborted).toBe(false)
    fetches[0]?.done()
    await second
  })

  test('when the last one gives up the fetch ends, and the next start begins a new one without waiting for that', async () => {
    const { images, fetches } = imagesOn([], { imagePullPolicy: 'missing' })
    const impatient = new AbortController()
    const first = images.ensurePresent('house:latest', impatient.signal)
    await expect.poll(() => fetches.length).toBe(1)
    impatient.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    expect(fetches[0]?.signal.aborted).toBe(true)
    const next = images.ensurePresent('house:latest', patience())
    await expect.poll(() => fetches.length).toBe(2)
    fetches[0]?.fail(unreachable)
    const another = images.ensurePresent('house:latest', patience())
    fetches[1]?.done()
    await Promise.all([next, another])
    expect(fetches).toHaveLength(2)
  })
})
