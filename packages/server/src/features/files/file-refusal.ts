import type { ErrorCode } from '@svc/protocol/errors'
import { AgentError } from '../../agent/agent-error.ts'
import { AppError } from '../../kernel/app-error.ts'

type AgentCode = AgentError['code']
/** The code and the sentence of an answer. */
type Refusal = readonly [ErrorCode, string]

/** What single requests say otherwise than the rest. */
export type Refusals = Readonly<Partial<Record<AgentCode, Refusal>>>

/** What the workspace refuses, in the words of the API. Where the reason says more than we could, it is passed on. */
function usualRefusal(code: AgentCode, reason: string): Refusal {
  switch (code) {
    case 'bad_request':
      return ['bad_request', reason]
    case 'not_found':
      return PATH_NOT_FOUND
    case 'exists':
      return ['conflict', 'Destination already exists']
    case 'not_permitted':
      return ['file_permission_denied', 'Permission denied']
    case 'is_directory':
      return ['conflict', 'There is a directory at this path']
    case 'not_directory':
      return ['conflict', 'A part of the path is not a directory']
    // A full disk, too many open files: nothing about the request is wrong.
    case 'too_many':
    case 'failed':
      return ['unavailable', reason]
  }
}

export const PATH_NOT_FOUND: Refusal = ['not_found', 'Path not found']

/** The answer for what the agent refused; anything else stays what it is. */
export function fileRefusal(error: unknown, refusals: Refusals): unknown {
  if (!(error instanceof AgentError)) return error
  const [code, sentence] = refusals[error.code] ?? usualRefusal(error.code, error.message)
  return new AppError(code, sentence)
}
