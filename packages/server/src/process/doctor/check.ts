import type { Environment } from '../../config/environment.ts'
import type { Settings } from '../../config/settings.ts'
import type { TrialEngine } from './trial-engine.ts'

/** What one look at the host found. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** What is so. */
  readonly text: string
  /** What to do about it: a sentence, with the command where there is one. */
  readonly hint?: string
  /** More to know, a sentence each. */
  readonly details?: readonly string[]
}

/** What a check may look at. Each is independent of the others. */
export interface DoctorContext {
  readonly settings: Settings
  readonly environment: Environment
  readonly isRoot: boolean
  readonly engine: TrialEngine
}

export interface Check {
  readonly name: string
  /** What it may take. The usual limit is for checks that only read files. */
  readonly limitMs?: number
  run(context: DoctorContext): Promise<Finding>
}

export const ok = (text: string): Finding => ({ level: 'ok', text })
export const warning = (text: string, hint?: string): Finding => ({ level: 'warning', text, ...(hint && { hint }) })
export const error = (text: string, hint?: string): Finding => ({ level: 'error', text, ...(hint && { hint }) })
