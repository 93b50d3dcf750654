// Shows how far a long piece of work is: on a terminal one line that moves, elsewhere a plain line now and then.

/** Without a terminal: often enough to see that it lives, seldom enough for a log. */
const PLAIN_EVERY_MS = 10_000
const MOVING_EVERY_MS = 100

export class Progress {
  #title = ''
  #count = 0
  #total = 0
  #began = 0
  #shown = 0

  /** Ends the stage before, with its seconds. The same title again goes on with it. */
  stage(title) {
    if (title === this.#title) return
    this.finish()
    this.#title = title
    this.#count = 0
    this.#total = 0
    this.#began = performance.now()
    this.#shown = this.#began
    if (process.stdout.isTTY) this.#move()
  }

  expect(total) {
    this.#total = total
  }

  count() {
    this.#count++
    const every = process.stdout.isTTY ? MOVING_EVERY_MS : PLAIN_EVERY_MS
    if (performance.now() - this.#shown < every) return
    this.#shown = performance.now()
    if (process.stdout.isTTY) this.#move()
    else console.log(`  ${this.#title}: ${this.#amount()}`)
  }

  finish() {
    if (this.#title === '') return
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1)
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
    console.log(`  ${this.#title}: ${this.#count > 0 ? `${this.#amount()}, ` : ''}${seconds} s`)
    this.#title = ''
  }

  #move() {
    process.stdout.write(`\r\x1b[K  ${this.#title} … ${this.#count > 0 ? this.#amount() : ''}`)
  }

  #amount() {
    return this.#total >= this.#count ? `${this.#count} of ${this.#total}` : `${this.#count}`
  }
}
