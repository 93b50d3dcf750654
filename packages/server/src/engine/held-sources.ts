import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { type ContainerMount, EngineError } from './container-engine.ts'
import { O_PATH } from './open-flags.ts'

type HostMount = Extract<ContainerMount, { kind: 'host' }>

interface Held {
  readonly mount: HostMount
  readonly handle: FileHandle
}

/**
 * The directories of the host that a container is to have, held from before it is made. Engines take paths, and a path
 * may lead elsewhere by the time the engine follows it: another workspace that can write there may exchange a directory
 * for a link. So what was mounted is compared with what is held, before anybody's program runs in the container.
 */
export class HeldSources {
  readonly #held: readonly Held[]

  private constructor(held: readonly Held[]) {
    this.#held = held
  }

  /** Sources must be free of links, as they were when they were checked. */
  static async hold(mounts: readonly ContainerMount[]): Promise<HeldSources> {
    await using undo = new AsyncDisposableStack()
    const held: Held[] = []
    for (const mount of mounts) {
      if (mount.kind !== 'host') continue
      const handle = await holdWithoutLinks(mount.source)
      undo.defer(() => handle.close())
      held.push({ mount, handle })
    }
    undo.move()
    return new HeldSources(held)
  }

  /** `pid`: a process of the container. Throws when something else was mounted. */
  async requireMounted(pid: number): Promise<void> {
    for (const { mount, handle } of this.#held) {
      const wanted = await handle.stat({ bigint: true })
      const mounted = await stat(`/proc/${pid}/root${mount.target}`, { bigint: true }).catch(() => undefined)
      if (mounted?.dev !== wanted.dev || mounted.ino !== wanted.ino) {
        throw new EngineError('failed', `${mount.source} was exchanged while it was being mounted at ${mount.target}`)
      }
    }
  }

  get isEmpty(): boolean {
    return this.#held.length === 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { handle } of this.#held) await handle.close()
  }
}

/** Part by part, each from the handle of the one before. */
async function holdWithoutLinks(path: string): Promise<FileHandle> {
  let handle = await open('/', O_PATH | constants.O_DIRECTORY)
  for (const part of path.split('/').filter((name) => name !== '')) {
    const parent = handle
    try {
      handle = await open(`/proc/self/fd/${parent.fd}/${part}`, O_PATH | constants.O_NOFOLLOW)
    } catch (cause) {
      throw new EngineError('failed', `${path} cannot be mounted: it is not there any more`, { cause })
    } finally {
      await parent.close()
    }
    // A link is opened as itself; what it leads to was never checked.
    if ((await handle.stat()).isSymbolicLink()) {
      await handle.close()
      throw new EngineError('failed', `${path} cannot be mounted: a part of it has become a link`)
    }
  }
  return handle
}
