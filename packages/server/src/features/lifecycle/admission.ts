import type { Logger } from '../../kernel/logger.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { type AdmissionSettings, requireRoom } from './admission-rules.ts'
import type { AvailableMemory } from './memory-available.ts'
import type { RunningContainer } from './running-container.ts'

interface AdmissionParts {
  readonly settings: () => AdmissionSettings
  readonly measure: () => Promise<AvailableMemory | undefined>
  readonly running: () => readonly RunningContainer[]
  readonly workspaces: Pick<Workspaces, 'withContainer'>
  readonly log: Logger
}

interface Reservation {
  readonly ownerId: string
  readonly memoryBytes: number
}

/** Lets a workspace start while there is room for it, and counts those that are only starting as if they ran. */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #reserved = new Map<string, Reservation>()
  #saidUnmeasurable = false

  constructor(parts: AdmissionParts) {
    this.#parts = parts
  }

  /** Throws when there is no room. The answer gives the reservation back, once the start has come to an end. */
  async admit(workspace: Pick<Workspace, 'id' | 'ownerId'>, memoryLimitBytes: number | undefined): Promise<() => void> {
    const settings = this.#parts.settings()
    const available = settings.admissionMemoryEnabled ? await this.#measure() : undefined
    const noted = settings.maxRunningPerUser > 0 ? await this.#parts.workspaces.withContainer() : []
    // From here to the reservation nothing is waited for, so two starts can never take the same room.
    const runningOfOwner = this.#runningOf(workspace, noted)
    const promisedBytes = this.#promisedBeside(workspace.id)
    requireRoom({ available, memoryLimitBytes, promisedBytes, runningOfOwner }, settings)
    this.#reserved.set(workspace.id, { ownerId: workspace.ownerId, memoryBytes: memoryLimitBytes ?? 0 })
    return () => this.#reserved.delete(workspace.id)
  }

  /** A workspace may have changed hands since it was started: its row knows the owner better than memory. */
  #runningOf({ id, ownerId }: Pick<Workspace, 'id' | 'ownerId'>, noted: readonly Workspace[]): number {
    const ids = new Set(noted.filter((other) => other.ownerId === ownerId).map((other) => other.id))
    const known = new Set(noted.map((other) => other.id))
    for (const { facts } of this.#parts.running()) {
      if (facts.ownerId === ownerId && !known.has(facts.workspaceId)) ids.add(facts.workspaceId)
    }
    for (const [workspaceId, reservation] of this.#reserved) if (reservation.ownerId === ownerId) ids.add(workspaceId)
    ids.delete(id)
    return ids.size
  }

  #promisedBeside(workspaceId: string): number {
    let bytes = 0
    for (const [id, { memoryBytes }] of this.#reserved) if (id !== workspaceId) bytes += memoryBytes
    return bytes
  }

  async #measure(): Promise<AvailableMemory | undefined> {
    const available = await this.#parts.measure()
    if (!available && !this.#saidUnmeasurable) this.#parts.log.warning('cannot measure memory; every start is admitted')
    this.#saidUnmeasurable = available === undefined
    return available
  }
}
