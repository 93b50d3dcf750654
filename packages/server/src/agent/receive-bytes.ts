import type { Readable } from 'node:stream'
import type { AgentMessage, AgentRequest } from '@svc/protocol/agent/requests'
import { AgentError, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import { InboundStream } from './inbound-stream.ts'

export interface ReceiveOptions {
  /** One message that it accepts must come before the bytes; any other is not expected. */
  readonly head?: (message: AgentMessage) => boolean
  /** Told of each piece that the reader takes. */
  readonly moved?: (() => void) | undefined
  /** Asked at the end: whether so many bytes are all. Otherwise the stream breaks. */
  readonly isWhole?: (bytes: number) => boolean
}

/** With what a channel may send from the start: enough that neither side waits for the other with each piece. */
const MORE_CREDIT = 768 * 1024

/**
 * The bytes that answer a request. A reader that goes away ends the request; an agent that stops early breaks the
 * stream.
 */
export function receiveBytes(link: AgentLink, request: AgentRequest, options: ReceiveOptions = {}): Readable {
  const { head, moved, isWhole } = options
  let isBegun = head === undefined
  let hasEnded = false
  let receivedBytes = 0
  const call = link.call(request, {
    message: (message) => {
      if (isBegun || !head?.(message)) call.fail()
      isBegun = true
    },
    data: (bytes) => {
      if (!isBegun) return call.fail()
      receivedBytes += bytes.length
      content.accept(bytes)
    },
    ended: () => {
      hasEnded = true
    },
    closed: (error) => {
      if (error) content.destroy(error)
      else if (!isBegun) content.destroy(unanswered())
      else if (!hasEnded) content.destroy(new AgentError('failed', 'The workspace broke off'))
      else if (isWhole?.(receivedBytes) === false) content.destroy(new AgentError('failed', 'It was changed meanwhile'))
      else content.finish()
    },
  })
  const content = new InboundStream({
    consumed: (bytes) => {
      call.consumed(bytes)
      moved?.()
    },
    gone: () => call.close(),
  })
  call.consumed(MORE_CREDIT)
  return content
}
