import type { TerminalAttachRequest, TerminalInfo, TerminalOpenRequest } from '@svc/protocol/agent/requests'
import { unexpected } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import { isTerminal, MAX_TITLE_LENGTH } from './answer-limits.ts'
import { type AskOptions, ask, tell } from './ask.ts'
import { AttachedTerminal, type TerminalHandlers } from './attached-terminal.ts'

/** The terminals of a workspace. They live in the agent, whether somebody is attached or not. */
export class AgentTerminals {
  readonly #link: AgentLink

  constructor(link: AgentLink) {
    this.#link = link
  }

  /** Resolves once the shell runs. */
  open(request: Omit<TerminalOpenRequest, 'op'>, options?: AskOptions): Promise<void> {
    return tell(this.#link, { ...request, op: 'terminal.open' }, options)
  }

  /** Those that are open, and how many were ever opened in this container, the service left out. */
  async list(options?: AskOptions): Promise<{ terminals: TerminalInfo[]; opened: number }> {
    const { terminals, opened } = await ask(this.#link, { op: 'terminal.list' }, 'terminals', options)
    if (opened < 0 || !terminals.every(isTerminal)) throw unexpected()
    const shortened = terminals.map((terminal) => ({ ...terminal, title: terminal.title.slice(0, MAX_TITLE_LENGTH) }))
    return { terminals: shortened, opened }
  }

  /** Replaces what is kept with a terminal, at most 1024 characters. Fails with `not_found` for one that is gone. */
  label(id: string, label: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'terminal.label', id, label }, options)
  }

  /** Ends its processes, as closing a window does. Ending one that is gone is not an error. */
  close(id: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'terminal.close', id }, options)
  }

  attach(request: Omit<TerminalAttachRequest, 'op'>, handlers: TerminalHandlers): AttachedTerminal {
    return new AttachedTerminal({ link: this.#link, request: { ...request, op: 'terminal.attach' }, handlers })
  }
}
