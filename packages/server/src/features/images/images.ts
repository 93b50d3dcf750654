import type { ImageList } from '@svc/protocol/images'
import type { Settings } from '../../config/settings.ts'
import { type ContainerEngine, EngineError } from '../../engine/container-engine.ts'
import { Announcer } from '../../kernel/announcer.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SharedPull } from './shared-pull.ts'

export type ImageSettings = Pick<Settings['containers'], 'imageName' | 'allowedImages' | 'imagePullPolicy'>

/** A step of a fetch, in words for people. */
export interface PullNews {
  readonly image: string
  readonly text: string
}

interface ImagesParts {
  readonly settings: () => ImageSettings
  readonly engine: Pick<ContainerEngine, 'supports' | 'images'>
  readonly log: Logger
}

/** Which images workspaces may be made from, and seeing to it that they are here. */
export class Images {
  readonly progress = new Announcer<PullNews>()
  readonly #parts: ImagesParts
  readonly #pulls = new Map<string, SharedPull>()

  constructor(parts: ImagesParts) {
    this.#parts = parts
  }

  list(): ImageList {
    const { imageName, allowedImages } = this.#parts.settings()
    return { default: imageName, allowed: [...new Set([imageName, ...allowedImages])].toSorted() }
  }

  /** An empty name means the default image, as none does. */
  nameFor(image: string | null): string {
    return image || this.#parts.settings().imageName
  }

  requireAllowed(image: string): void {
    const { allowed } = this.list()
    if (!allowed.includes(image)) {
      throw new AppError('bad_request', `Image '${image}' is not allowed; allowed images: ${allowed.join(', ')}`)
    }
  }

  /** As the pull policy says. Starts at the same time share one fetch, which ends early only when all give up. */
  async ensurePresent(image: string, signal: AbortSignal): Promise<void> {
    const { engine, settings, log } = this.#parts
    if (!engine.supports.images) return
    const policy = settings().imagePullPolicy
    // `always` does not look: what is here is never good enough.
    const isHere = policy !== 'always' && (await engine.images.has(image))
    if (isHere && policy !== 'newer') return
    if (policy === 'never') throw this.#missing(image)
    try {
      await this.#pull(image, signal)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      if (policy !== 'newer' || !isHere)
        throw new AppError('image_not_usable', sentence(error.message), { cause: error })
      log.warning(`the image ${image} could not be fetched anew, so the one that is here is used`, { error })
    }
  }

  #missing(image: string): AppError {
    const isDefault = image === this.#parts.settings().imageName
    const remedy = isDefault
      ? 'an administrator can build it with `npm run image`, or have images fetched with SVCD_IMAGE_PULL_POLICY'
      : 'an administrator can load it, or have images fetched with SVCD_IMAGE_PULL_POLICY'
    return new AppError('image_not_usable', `The image ${image} is not on this machine: ${remedy}`)
  }

  #pull(image: string, signal: AbortSignal): Promise<void> {
    const running = this.#pulls.get(image)
    if (running?.isOpen) return running.join(signal)
    const { engine, log } = this.#parts
    log.info(`fetching the image ${image}`)
    const pull = new SharedPull((together) =>
      engine.images
        .pull(image, { signal: together, onProgress: (text) => this.progress.announce({ image, text }) })
        .finally(() => {
          if (this.#pulls.get(image) === pull) this.#pulls.delete(image)
        }),
    )
    this.#pulls.set(image, pull)
    return pull.join(signal)
  }
}

/** Engines begin in lower case, as part of a longer text. */
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
