import type { ContainerEngine } from './engine/container-engine.ts'
import type { Build } from './features/instance/version.ts'
import type { Clock } from './kernel/clock.ts'
import type { Logger } from './kernel/logger.ts'
import type { Storage } from './storage/storage.ts'

/** The outside parts the service is built from. */
export interface Ports {
  readonly storage: Storage
  readonly engine: ContainerEngine
  readonly clock: Clock
  readonly log: Logger
  readonly instanceId: string
  /** Where what must last is kept. */
  readonly dataDir: string
  /** Signs tokens while the operator has set no secret. */
  readonly signingSecret: string
  /** How often a password is hashed. Fewer than the default only in tests. */
  readonly passwordIterations?: number
  /** Asked each time: a reload may name another version file. */
  readonly build: () => Build
  /** Where the built web UI is, unless a setting says otherwise. */
  readonly webDir: string
  readonly checkReplies?: boolean
}
