import type { Readable } from 'node:stream'
import type { AgentMessage, AgentRequest } from '@svc/protocol/agent/requests'
import { AgentError, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import { InboundStream } from './inbound-stream.ts'

/**
 * The bytes that answer a request. A reader that goes away ends the request; an agent that stops early breaks the
 * stream. Where `head` is given, one message that it accepts must come before the bytes; any other is not expected.
 */
export function receiveBytes(
  link: AgentLink,
  request: AgentRequest,
  head?: (message: AgentMessage) => boolean,
): Readable {
  let isBegun = head === undefined
  let hasEnded = false
  const call = link.call(request, {
    message: (message) => {
      if (isBegun || !head?.(message)) call.fail()
      isBegun = true
    },
    data: (bytes) => {
      if (isBegun) content.accept(bytes)
      else call.fail()
    },
    ended: () => {
      hasEnded = true
    },
    closed: (error) => {
      if (error) content.destroy(error)
      else if (!isBegun) content.destroy(unanswered())
      else if (!hasEnded) content.destroy(new AgentError('failed', 'The workspace broke off'))
      else content.finish()
    },
  })
  const content = new InboundStream({ consumed: (bytes) => call.consumed(bytes), gone: () => call.close() })
  return content
}
