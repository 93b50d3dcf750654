import type { ChannelError } from '@svc/protocol/agent/channel-error'
import type { Channel } from '@svc/protocol/agent/channels'
import { sshAgentSocket } from '@svc/protocol/agent/requests'
import { memberId } from '../member-id.ts'
import { RequestError } from '../request-error.ts'
import type { RequestFields } from '../request-fields.ts'
import { MemberAgent } from './member-agent.ts'

/** The ssh agents that are forwarded into this workspace, one for each member at most. */
export class SshAgents {
  readonly #listening = new Map<string, { agent: MemberAgent; replace(): void }>()
  #lastNumber = 0

  /** See `SshAgentListenRequest`. Resolves when the channel is closed, by another that takes its place for one. */
  async listen(fields: RequestFields, channel: Channel): Promise<void> {
    const userId = memberId(fields)
    const over = Promise.withResolvers<void>()
    channel.handlers = { closed: () => over.resolve() }
    const path = sshAgentSocket(userId)
    const agent = new MemberAgent({
      path,
      connected: (connection) => channel.message({ type: 'connected', connection }),
      nextNumber: () => ++this.#lastNumber,
    })
    const replace = () => {
      channel.close(REPLACED)
      over.resolve()
    }
    const entry = { agent, replace }
    try {
      await agent.listen()
      if (!channel.isClosed) {
        this.#listening.get(userId)?.replace()
        this.#listening.set(userId, entry)
        channel.message({ type: 'listening', path })
      }
      await over.promise
    } finally {
      agent.close()
      if (this.#listening.get(userId) === entry) this.#listening.delete(userId)
    }
  }

  /** See `SshAgentAcceptRequest`. */
  async accept(fields: RequestFields, channel: Channel): Promise<void> {
    const number = fields.integer('connection', { min: 1, max: Number.MAX_SAFE_INTEGER })
    const connection = this.#listening.get(memberId(fields))?.agent.take(number)
    if (!connection) throw new RequestError('not_found', 'The program that wanted the ssh agent has gone')
    await connection.join(channel)
  }
}

const REPLACED: ChannelError = {
  code: 'exists',
  message: 'The ssh agent of this member is forwarded from elsewhere now',
}
