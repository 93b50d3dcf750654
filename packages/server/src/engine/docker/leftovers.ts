import type { Logger } from '../../kernel/logger.ts'
import { keyOf, type Place } from './place.ts'

interface LeftoversParts {
  /** Removes what a container had beside itself. May be called again after a failure. */
  readonly clear: (place: Place) => Promise<void>
  readonly log: Logger
}

/** What containers that are gone have left: their networks and directories. */
export class Leftovers {
  readonly #parts: LeftoversParts
  readonly #places = new Map<string, Place>()
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(parts: LeftoversParts) {
    this.#parts = parts
  }

  /** Clears this place, and those that could not be cleared before. Never fails: what is left then waits for the next. */
  async clear(place: Place): Promise<void> {
    this.#places.set(keyOf(place), place)
    await Promise.all([...this.#places].map(([key, left]) => this.#once(key, left)))
  }

  /** For a new container in this place: nothing is taken from under it. */
  async keep(place: Place): Promise<void> {
    const key = keyOf(place)
    this.#places.delete(key)
    await this.#underWay.get(key)
  }

  #once(key: string, place: Place): Promise<void> {
    const work = this.#underWay.get(key) ?? this.#try(key, place).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, work)
    return work
  }

  async #try(key: string, place: Place): Promise<void> {
    try {
      await this.#parts.clear(place)
      this.#places.delete(key)
    } catch (error) {
      const { workspaceId } = place
      this.#parts.log.warning('what a container left cannot be removed yet', { error, workspace_id: workspaceId })
    }
  }
}
