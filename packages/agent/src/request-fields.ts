import { RequestError } from './request-error.ts'

/** Longest path and longest single name that Linux takes. */
const MAX_PATH_BYTES = 4096
const MAX_NAME_BYTES = 255

/**
 * The fields of a request, each read as what it must be. Written by hand rather than with a schema: the agent starts
 * with every workspace, and a schema library would double the time that takes.
 */
export class RequestFields {
  readonly #values: ReadonlyMap<string, unknown>

  constructor(request: unknown) {
    if (!isObject(request)) throw new RequestError('bad_request', 'A request must be an object')
    this.#values = new Map(Object.entries(request))
  }

  has(name: string): boolean {
    return this.#values.get(name) !== undefined
  }

  text(name: string): string {
    const value = this.#values.get(name)
    if (typeof value !== 'string') throw bad(`${name} must be a text`)
    return value
  }

  /** A text that can be handed to the system. */
  word(name: string): string {
    return withoutNul(this.text(name), name)
  }

  textOrNull(name: string): string | null {
    return this.#values.get(name) === null ? null : this.word(name)
  }

  flag(name: string): boolean {
    const value = this.#values.get(name)
    if (typeof value !== 'boolean') throw bad(`${name} must be true or false`)
    return value
  }

  integer(name: string, { min, max }: { min: number; max: number }): number {
    const value = this.#values.get(name)
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      throw bad(`${name} must be a whole number from ${min} to ${max}`)
    }
    return value
  }

  words(name: string): string[] {
    const value = this.#values.get(name)
    if (!Array.isArray(value)) throw bad(`${name} must be a list`)
    return value.map((item: unknown) => {
      if (typeof item !== 'string') throw bad(`${name} must be a list of texts`)
      return withoutNul(item, name)
    })
  }

  /** Variables for a process. */
  variables(name: string): Record<string, string> {
    const value = this.#values.get(name)
    if (!isObject(value)) throw bad(`${name} must be an object`)
    return Object.fromEntries(
      Object.entries(value).map(([key, text]) => {
        if (typeof text !== 'string') throw bad(`${name} must hold texts`)
        if (key === '' || key.includes('=')) throw bad(`${name} holds a name that no variable can have`)
        return [withoutNul(key, name), withoutNul(text, name)]
      }),
    )
  }

  /** An absolute path, without `.`, `..` and double slashes. */
  path(name: string): string {
    const value = this.word(name)
    if (!value.startsWith('/')) throw bad(`${name} must be an absolute path`)
    if (Buffer.byteLength(value) >= MAX_PATH_BYTES) throw bad(`${name} is too long`)
    const parts: string[] = []
    for (const part of value.split('/')) {
      if (Buffer.byteLength(part) > MAX_NAME_BYTES) throw bad(`${name} holds a name that is too long`)
      if (part === '..') parts.pop()
      else if (part !== '' && part !== '.') parts.push(part)
    }
    return `/${parts.join('/')}`
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutNul(value: string, name: string): string {
  if (value.includes('\0')) throw bad(`${name} must not hold a NUL`)
  return value
}

function bad(message: string): RequestError {
  return new RequestError('bad_request', message)
}
