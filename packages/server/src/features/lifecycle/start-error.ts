import { AgentError, AgentLost, AgentOutdated } from '../../agent/agent-error.ts'
import { EngineError } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import { TookTooLong } from './deadline.ts'

/** What the person who wanted a start is told. Words of ours and of the engine, never values of the environment. */
export function startError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  if (cause instanceof EngineError) {
    const isImage = cause.fault === 'no_image' || cause.fault === 'unusable_image'
    return new AppError(isImage ? 'image_not_usable' : 'start_failed', sentence(cause.message), { cause })
  }
  if (cause instanceof AgentLost || cause instanceof AgentOutdated || cause instanceof AgentError) {
    return new AppError('start_failed', `The agent in the container did not get ready: ${cause.message}`, { cause })
  }
  if (cause instanceof TookTooLong) return new AppError('start_failed', sentence(cause.message), { cause })
  return new AppError('start_failed', 'The workspace could not be started; the log of the server says why', { cause })
}

/** An engine may quote pages of what a program wrote. */
const MAX_LENGTH = 500

const sentence = (text: string): string => `The container could not be started: ${text.slice(0, MAX_LENGTH)}`
