export type StartResult = 'started' | 'already_running'

interface PendingStart {
  readonly result: Promise<StartResult>
  readonly abort: AbortController
}

/** Starts that are under way or wait for their turn. A second one joins the first; a stop ends it. */
export class PendingStarts {
  readonly #byWorkspace = new Map<string, PendingStart>()

  begin(workspaceId: string, work: (signal: AbortSignal) => Promise<StartResult>): Promise<StartResult> {
    const present = this.#byWorkspace.get(workspaceId)
    if (present && !present.abort.signal.aborted) return present.result.then(() => 'already_running')
    const abort = new AbortController()
    const result = work(abort.signal).finally(() => {
      if (this.#byWorkspace.get(workspaceId)?.abort === abort) this.#byWorkspace.delete(workspaceId)
    })
    this.#byWorkspace.set(workspaceId, { result, abort })
    return result
  }

  abort(workspaceId: string, reason: Error): void {
    this.#byWorkspace.get(workspaceId)?.abort.abort(reason)
  }

  abortAll(reason: Error): void {
    for (const { abort } of this.#byWorkspace.values()) abort.abort(reason)
  }

  /** Resolves when all that were under way have come to an end. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#byWorkspace.values()].map(({ result }) => result))
  }
}
