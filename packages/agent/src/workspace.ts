import type { Variables } from './environment.ts'
import { RequestError } from './request-error.ts'

/** What `setup` established: everything that is started runs with it. */
export class Workspace {
  #env: Variables | undefined

  get isReady(): boolean {
    return this.#env !== undefined
  }

  requireReady(): void {
    if (!this.#env) throw notReady()
  }

  /** Throws while `setup` is not done. */
  get env(): Variables {
    if (!this.#env) throw notReady()
    return this.#env
  }

  ready(env: Variables): void {
    this.#env = env
  }
}

function notReady(): RequestError {
  return new RequestError('failed', 'The workspace is not set up yet')
}
