import type { AgentLink } from './agent-link.ts'
import { SshListener, type SshListenerHandlers } from './ssh-listener.ts'

/** The ssh agents of members, which the server forwards into a workspace. */
export class AgentSsh {
  readonly #link: AgentLink

  constructor(link: AgentLink) {
    this.#link = link
  }

  /** From now on programs in the workspace find the agent of this member here, and no longer where they did before. */
  listen(userId: string, handlers: SshListenerHandlers): SshListener {
    return new SshListener({ link: this.#link, userId, handlers })
  }
}
