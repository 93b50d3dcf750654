import { Background } from '../../kernel/background.ts'
import { FrameError, workspaceDenied } from '../../kernel/frame-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import { ancestorsOf, type ResourcePath } from '../acl/resource-path.ts'
import { resourceOf } from '../workspaces/workspace-resource.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { Attachment } from './attachment.ts'
import { type Attachments, notFound } from './attachments.ts'
import type { OpenWorkspaces } from './open-workspaces.ts'

interface RightsWatchParts {
  readonly open: OpenWorkspaces
  readonly attachments: Pick<Attachments, 'allows' | 'expel' | 'rightsChanged'>
  readonly access: Pick<AccessControl, 'changed'>
  readonly accounts: Pick<Accounts, 'changed'>
  readonly workspaces: Pick<Workspaces, 'changed' | 'find'>
  readonly log: Logger
}

/** Looks again at who is in which workspace when entries, groups or accounts change, or a workspace is gone. */
export class RightsWatch {
  readonly #parts: RightsWatchParts
  readonly #background: Background

  constructor(parts: RightsWatchParts) {
    this.#parts = parts
    this.#background = new Background(parts.log)
  }

  /** The answer ends it. */
  begin(): () => void {
    const { open, access, accounts, workspaces } = this.#parts
    const subscriptions = [
      access.changed.subscribe(({ resource }) => this.#lookAt(open.all().filter((one) => concerns(resource, one)))),
      accounts.changed.subscribe(({ userId }) => this.#lookAt(open.all().filter((one) => one.userId === userId))),
      workspaces.changed.subscribe(({ workspaceId }) => this.#lookFor(workspaceId)),
    ]
    return () => {
      for (const end of subscriptions) end()
    }
  }

  settled(): Promise<void> {
    return this.#background.settled()
  }

  /** Each by itself, so that trouble with one spares the others. */
  #lookAt(attachments: readonly Attachment[]): void {
    for (const attachment of attachments) {
      this.#background.run('a look at what somebody may do', () => this.#look(attachment))
    }
  }

  async #look(attachment: Attachment): Promise<void> {
    const { attachments } = this.#parts
    try {
      const refusal = await this.#refusalFor(attachment)
      if (refusal) attachments.expel(attachment, refusal)
      else if (!attachment.left.aborted) attachments.rightsChanged.announce(attachment)
    } catch (error) {
      // What somebody may do counts as nothing while it cannot be read. They may open the workspace again.
      attachments.expel(attachment, new FrameError('internal', 'Your rights here cannot be read at the moment'))
      throw error
    }
  }

  async #refusalFor(attachment: Attachment): Promise<FrameError | undefined> {
    const { attachments, workspaces } = this.#parts
    if (await attachments.allows(attachment, 'join-workspace')) return undefined
    return (await workspaces.find(attachment.workspaceId)) ? workspaceDenied() : notFound()
  }

  #lookFor(workspaceId: string): void {
    const { open, attachments, workspaces } = this.#parts
    if (!open.hasClients(workspaceId)) return
    this.#background.run('a look for a workspace', async () => {
      if (await workspaces.find(workspaceId)) return
      for (const attachment of open.in(workspaceId)) attachments.expel(attachment, notFound())
    })
  }
}

const concerns = (changed: ResourcePath | 'any', { workspaceId }: Attachment): boolean =>
  changed === 'any' || ancestorsOf(resourceOf(workspaceId)).includes(changed)
