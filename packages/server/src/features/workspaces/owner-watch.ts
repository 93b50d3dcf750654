import type { Background } from '../../kernel/background.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Workspaces } from './workspaces.ts'

type Actor = { readonly type: 'user'; readonly id: string } | { readonly type: 'system' }

interface OwnerWatchParts {
  readonly accounts: Pick<Accounts, 'shutOut' | 'find'>
  readonly workspaces: Pick<Workspaces, 'ownedBy' | 'withContainer'>
  /** Stops a workspace because its owner is gone. One that does not run is a success. */
  readonly stop: (workspaceId: string, actor: Actor) => Promise<void>
  readonly background: Background
}

/** Stops the workspaces of people whose accounts are disabled, whoever or whatever disabled them. */
export class OwnerWatch {
  readonly #parts: OwnerWatchParts
  #unsubscribe: (() => void) | undefined

  constructor(parts: OwnerWatchParts) {
    this.#parts = parts
  }

  /** To be called once the server knows which workspaces run: some may have lost their owners while it was away. */
  async begin(): Promise<void> {
    const { accounts, workspaces } = this.#parts
    this.#unsubscribe = accounts.shutOut.subscribe(({ userId, by }) => this.#stopAllOf(userId, by))
    const owners = new Set((await workspaces.withContainer()).map(({ ownerId }) => ownerId))
    for (const ownerId of owners) if ((await accounts.find(ownerId))?.disabled) this.#stopAllOf(ownerId)
  }

  end(): void {
    this.#unsubscribe?.()
  }

  #stopAllOf(userId: string, by?: string): void {
    const { workspaces, stop, background } = this.#parts
    const actor: Actor = by === undefined ? { type: 'system' } : { type: 'user', id: by }
    background.run('finding the workspaces of a disabled account', async () => {
      for (const { id } of await workspaces.ownedBy(userId)) {
        background.run('stopping a workspace of a disabled account', () => stop(id, actor)) // one must not hold up the others
      }
    })
  }
}
