import { AppError } from '../../kernel/app-error.ts'
import type { AvailableMemory } from './memory-available.ts'
import { sizeText } from './size-text.ts'

export interface AdmissionSettings {
  readonly admissionMemoryEnabled: boolean
  readonly admissionMemoryMarginBytes: number | undefined
  /** 0 means no limit. */
  readonly maxRunningPerUser: number
}

export interface AdmissionFacts {
  /** Undefined when it cannot be measured: then nobody is turned away for it. */
  readonly available: AvailableMemory | undefined
  /** Of the workspace to be started; undefined means that it has no limit, and nothing can be compared. */
  readonly memoryLimitBytes: number | undefined
  /** Of the starts that are under way: their memory is promised and not used yet. */
  readonly promisedBytes: number
  /** Other workspaces of the same owner that run or are being started. */
  readonly runningOfOwner: number
}

/** Throws when there is no room for one more workspace. */
export function requireRoom(facts: AdmissionFacts, settings: AdmissionSettings): void {
  requireMemory(facts, settings)
  const cap = settings.maxRunningPerUser
  if (cap > 0 && facts.runningOfOwner >= cap) {
    throw new AppError(
      'running_limit_reached',
      `The owner has ${facts.runningOfOwner} workspaces running and may have ${cap} ` +
        '(SVCD_MAX_RUNNING_WORKSPACES_PER_USER): stop one first',
    )
  }
}

function requireMemory(facts: AdmissionFacts, settings: AdmissionSettings): void {
  const { available, memoryLimitBytes, promisedBytes } = facts
  if (!settings.admissionMemoryEnabled || !available || memoryLimitBytes === undefined) return
  const margin = settings.admissionMemoryMarginBytes ?? 0
  const wanted = memoryLimitBytes + promisedBytes + margin
  if (available.bytes >= wanted) return
  const promised = promisedBytes === 0 ? '' : `, ${sizeText(promisedBytes)} for others that are starting`
  throw new AppError(
    'capacity_reached',
    `The machine has ${sizeText(available.bytes)} of memory left, and ${sizeText(wanted)} would be wanted: ` +
      `${sizeText(memoryLimitBytes)} for this workspace${promised} and ${sizeText(margin)} in reserve`,
  )
}
