import type { AgentMessage, AgentRequest } from '@svc/protocol/agent/requests'
import { unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'

export interface AskOptions {
  /** Gives the request up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

type Answer<T extends AgentMessage['type']> = Extract<AgentMessage, { type: T }>

/** Resolves when the agent has done it. */
export async function tell(link: AgentLink, request: AgentRequest, options?: AskOptions): Promise<void> {
  await converse(link, request, () => false, options)
}

/** Resolves with the one answer of this type. */
export async function ask<T extends AgentMessage['type']>(
  link: AgentLink,
  request: AgentRequest,
  type: T,
  options?: AskOptions,
): Promise<Answer<T>> {
  const isAnswer = (message: AgentMessage): message is Answer<T> => message.type === type
  const answers: Answer<T>[] = []
  const take = (message: AgentMessage) => isAnswer(message) && answers.push(message) === 1
  await converse(link, request, take, options)
  const [answer] = answers
  if (!answer) throw unanswered()
  return answer
}

/** Hands every message to `take`, which says whether it was expected; resolves when the agent is done. */
export function converse(
  link: AgentLink,
  request: AgentRequest,
  take: (message: AgentMessage) => boolean,
  { signal }: AskOptions = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const giveUp = () => {
      call.close()
      reject(signal?.reason)
    }
    const call = link.call(request, {
      message: (message) => {
        if (!take(message)) call.fail()
      },
      closed: (error) => {
        signal?.removeEventListener('abort', giveUp)
        if (error) reject(error)
        else resolve()
      },
    })
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}
