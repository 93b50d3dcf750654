import { EngineError, type EngineFault } from '../container-engine.ts'
import type { ApiAnswer } from './engine-api.ts'

/** Statuses that are answers more than failures. */
export const NOT_FOUND = 404
export const CONFLICT = 409

/** What engines say when they mean something a caller can act on. Both engines, and their network programs. */
const WORDS: readonly (readonly [EngineFault, RegExp])[] = [
  ['port_in_use', /address already in use|port is already allocated|ports are not available/i],
  ['no_image', /no such image|image not known|unable to find .*image|manifest unknown|short-name .* did not resolve/i],
  ['not_running', /no such container|no container with name or id/i],
]

/** Turns an answer that refuses into an error. `hidden` are values that may not be repeated, environment for one. */
export function refusal(what: string, answer: ApiAnswer, hidden: readonly string[] = []): EngineError {
  const said = withoutHidden(messageOf(answer), hidden)
  const fault = WORDS.find(([, pattern]) => pattern.test(said))?.[0] ?? 'failed'
  return new EngineError(fault, `could not ${what}: ${said}`)
}

export function isOk({ status }: ApiAnswer): boolean {
  return status >= 200 && status < 400
}

export function messageOf({ status, body }: ApiAnswer): string {
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') {
    return body.message.trim()
  }
  return `the engine answered ${status}`
}

/** Very short values are no secrets, and hiding them would make every sentence unreadable. */
const SHORTEST_HIDDEN = 4

function withoutHidden(text: string, hidden: readonly string[]): string {
  const longestFirst = hidden.filter((value) => value.length >= SHORTEST_HIDDEN).sort((a, b) => b.length - a.length)
  return longestFirst.reduce((rest, value) => rest.replaceAll(value, '…'), text)
}
