import type { Channel } from '@svc/protocol/agent/channels'
import type { AgentRequest } from '@svc/protocol/agent/requests'
import { RequestError, toChannelError } from './request-error.ts'
import { RequestFields } from './request-fields.ts'

/**
 * Does one request. Called at once when the channel opens, so handlers set before the first `await` miss nothing. The
 * channel is closed when it resolves, with an error when it rejects.
 */
export type RequestHandler = (fields: RequestFields, channel: Channel) => Promise<void>

/** One row for each request there is: one without a row does not compile. */
export type RequestTable = Readonly<Record<AgentRequest['op'], RequestHandler>>

/** Whatever is asked, however badly, is answered; nothing gets out of here. */
export function dispatcher(table: RequestTable): (channel: Channel, request: unknown) => void {
  const rows = new Map<string, RequestHandler>(Object.entries(table))
  const answer = async (channel: Channel, request: unknown) => {
    const fields = new RequestFields(request)
    const handler = rows.get(fields.text('op'))
    if (!handler) throw new RequestError('bad_request', 'There is no such request')
    await handler(fields, channel)
  }
  return (channel, request) => {
    answer(channel, request).then(
      () => channel.close(),
      (error: unknown) => channel.close(toChannelError(error)),
    )
  }
}
