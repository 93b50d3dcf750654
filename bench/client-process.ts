import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Job } from './terminal-client.ts'

/** A client of `/ws` in a process of its own, so that it takes no time from those who measure. */
export class ClientProcess {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'terminal-client.ts'))

  async ask(job: Job): Promise<number[]> {
    this.#child.send(job)
    const [answer] = await once(this.#child, 'message')
    const { figures, failure } = Object(answer)
    if (!Array.isArray(figures)) throw new Error(String(failure))
    return figures.map(Number)
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}
