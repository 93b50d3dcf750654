import { ReadCache } from '../../kernel/read-cache.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

const KEPT = 10_000

/** Which workspaces let everybody use what they host. */
export class PublicMarks {
  readonly #marks: ReadCache<boolean>

  constructor(workspaces: Pick<Workspaces, 'find'>) {
    const load = async (id: string) => (await workspaces.find(id))?.hostedPublic
    this.#marks = new ReadCache({ capacity: KEPT, load })
  }

  async has(workspaceId: string): Promise<boolean> {
    return (this.#marks.peek(workspaceId) ?? (await this.#marks.get(workspaceId))) === true
  }

  /** To be called after every change of a workspace. */
  forget(workspaceId: string): void {
    this.#marks.forget(workspaceId)
  }
}
