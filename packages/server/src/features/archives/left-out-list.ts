const MAX_NAMES = 1000
const MAX_NAME_CHARACTERS = 200

/** Keeps what an archive leaves out, in little memory however much it is. */
export class LeftOutList {
  readonly #lines: string[] = []
  #count = 0

  add({ name, reason }: { readonly name: string; readonly reason: string }): void {
    this.#count++
    if (this.#count <= MAX_NAMES) this.#lines.push(`${quoted(name)}: ${reason}\n`)
  }

  /** A line for each; undefined when there is none. */
  text(): string | undefined {
    if (this.#count === 0) return undefined
    const more = this.#count - this.#lines.length
    return this.#lines.join('') + (more > 0 ? `and ${more} more\n` : '')
  }
}

/** In quotes, because a name may hold anything, ends of lines too. */
const quoted = (name: string): string =>
  name.length > MAX_NAME_CHARACTERS
    ? `${JSON.stringify(name.slice(0, MAX_NAME_CHARACTERS).toWellFormed())}…`
    : JSON.stringify(name)
