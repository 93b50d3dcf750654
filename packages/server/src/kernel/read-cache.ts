import { dropOldest } from './drop-oldest.ts'

/** Answers from memory what the database was asked before. Bounded, and never older than the last `forget`. */
export class ReadCache<V> {
  readonly #load: (key: string) => Promise<V | undefined>
  readonly #capacity: number
  readonly #values = new Map<string, V>()
  readonly #loading = new Map<string, Promise<V | undefined>>()

  constructor(parts: { load: (key: string) => Promise<V | undefined>; capacity: number }) {
    this.#load = parts.load
    this.#capacity = parts.capacity
  }

  /** What memory has at this moment: no promise, for the way every request takes. */
  peek(key: string): V | undefined {
    return this.#values.get(key)
  }

  async get(key: string): Promise<V | undefined> {
    return this.#values.get(key) ?? this.#loading.get(key) ?? this.#read(key)
  }

  /** To be called after every change, whether or not it succeeded: a commit whose answer was lost may have happened. */
  forget(key: string): void {
    this.#values.delete(key)
    this.#loading.delete(key)
  }

  clear(): void {
    this.#values.clear()
    this.#loading.clear()
  }

  #read(key: string): Promise<V | undefined> {
    const reading = this.#load(key)
      .then((value) => {
        // A read that was overtaken by a `forget` may have seen the state before the change.
        if (value !== undefined && this.#loading.get(key) === reading) this.#keep(key, value)
        return value
      })
      .finally(() => {
        if (this.#loading.get(key) === reading) this.#loading.delete(key)
      })
    this.#loading.set(key, reading)
    return reading
  }

  #keep(key: string, value: V): void {
    this.#values.set(key, value)
    dropOldest(this.#values, this.#capacity)
  }
}
