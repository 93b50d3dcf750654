import { AppError } from '../../kernel/app-error.ts'
import type { Visitor } from './hosted-visitors.ts'

/**
 * One application may use so many connections at a time. A browser opens some six of them; this is for many browsers,
 * and leaves the server enough for everybody else.
 */
const MAX_PER_WORKSPACE = 512
const RETRY_SECONDS = 5

/** Somebody who uses an application at this moment. */
export interface OpenVisit {
  readonly workspaceId: string
  /** Undefined where the workspace lets everybody in. */
  readonly visitor: Visitor | undefined
  readonly gone: AbortController
}

/** Exchanges with hosted applications that are under way. */
export class OpenVisits {
  readonly #byWorkspace = new Map<string, Set<OpenVisit>>()

  all(): OpenVisit[] {
    return [...this.#byWorkspace.values()].flatMap((visits) => [...visits])
  }

  add(workspaceId: string, visitor: Visitor | undefined): OpenVisit {
    const visits = this.#byWorkspace.get(workspaceId) ?? new Set()
    if (visits.size >= MAX_PER_WORKSPACE) {
      throw new AppError('unavailable', 'This workspace has all the connections it may have', {
        retryAfterSeconds: RETRY_SECONDS,
      })
    }
    const visit = { workspaceId, visitor, gone: new AbortController() }
    this.#byWorkspace.set(workspaceId, visits.add(visit))
    return visit
  }

  remove(visit: OpenVisit): void {
    const visits = this.#byWorkspace.get(visit.workspaceId)
    visits?.delete(visit)
    if (visits?.size === 0) this.#byWorkspace.delete(visit.workspaceId)
  }
}
