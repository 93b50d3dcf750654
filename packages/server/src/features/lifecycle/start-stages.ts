import type { StartStage } from '@svc/protocol/ws/server-frames'
import { Announcer } from '../../kernel/announcer.ts'
import type { Clock } from '../../kernel/clock.ts'

/** Steps within a stage, such as those of a fetch, are told no more often than people can read them. */
const STEP_MS = 250

/** How far a start has come. */
export interface StageNews {
  readonly workspaceId: string
  readonly stage: StartStage
  /** In words for people. */
  readonly detail?: string
  readonly elapsedMs: number
}

export type TellStage = (stage: StartStage, detail?: string) => void

/** The stages of the starts under way, for those who wait for them. */
export class StartStages {
  readonly news = new Announcer<StageNews>()
  readonly #clock: Clock
  readonly #underWay = new Map<string, StageNews[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** For one who joins late: each stage so far, with the last that was told of it. */
  soFar(workspaceId: string): readonly StageNews[] {
    return this.#underWay.get(workspaceId) ?? []
  }

  begin(workspaceId: string): { readonly tell: TellStage; end(): void } {
    const told: StageNews[] = []
    const startMs = this.#clock.nowMs()
    this.#underWay.set(workspaceId, told)
    const tell: TellStage = (stage, detail) => {
      const last = told.at(-1)
      const elapsedMs = this.#clock.nowMs() - startMs
      const isStep = last?.stage === stage && last.detail !== undefined
      if (isStep && elapsedMs - last.elapsedMs < STEP_MS) return
      if (last?.stage === stage) told.pop()
      const news = { workspaceId, stage, ...(detail === undefined ? {} : { detail }), elapsedMs }
      told.push(news)
      this.news.announce(news)
    }
    const end = () => {
      if (this.#underWay.get(workspaceId) === told) this.#underWay.delete(workspaceId)
    }
    return { tell, end }
  }
}
