import { inspect } from 'node:util'

/** What stands in for a secret wherever a person or a log could see it. */
export const MASK = '***'

/** A value that must not be seen. Logging, printing or serialising it shows the mask; only `reveal` gives it away. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return MASK
  }

  toJSON(): string {
    return MASK
  }

  [inspect.custom](): string {
    return MASK
  }
}
