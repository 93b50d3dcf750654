import type { ChannelError } from '@svc/protocol/agent/channel-error'

/** More than a sentence needs. */
const MAX_MESSAGE_LENGTH = 500
/** What could move a cursor or turn the writing around where the sentence is shown. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}]/gu

/**
 * The agent refused a request, or broke off, or answered what we did not ask for. `message` may be shown to the person
 * who asked, and to nobody else: whoever holds the workspace can choose its words.
 */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: ChannelError['code']

  constructor(code: ChannelError['code'], message: string) {
    super(message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed().replace(UNPRINTABLE, ' '))
    this.code = code
  }
}

/** The connection to the agent is gone, and with it the request. `message` has no word of the agent's in it. */
export class AgentLost extends Error {
  override readonly name = 'AgentLost'
}

/** The agent was started by another version of the server and must be replaced. */
export class AgentOutdated extends Error {
  override readonly name = 'AgentOutdated'
}

/** The agent said what it should not have said. */
export const unexpected = (): AgentError => new AgentError('failed', 'The workspace answered something unexpected')

/** The agent ended a call in peace without having said what it should have. */
export const unanswered = (): AgentError => new AgentError('failed', 'The workspace gave no answer')
