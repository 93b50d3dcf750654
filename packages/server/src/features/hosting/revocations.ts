import { AppError } from '../../kernel/app-error.ts'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { HostedVisitors } from './hosted-visitors.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { OpenVisit, OpenVisits } from './open-visits.ts'
import type { PublicMarks } from './public-marks.ts'

/** Sessions also end because their time is over, and nobody announces that. */
const LOOK_EVERY_MS = 60_000

interface RevocationsParts {
  readonly sessions: Pick<Sessions, 'ended' | 'refreshed'>
  readonly accounts: Pick<Accounts, 'shutOut' | 'changed'>
  readonly access: Pick<AccessControl, 'changed'>
  readonly workspaces: Pick<Workspaces, 'changed'>
  readonly visitors: Pick<HostedVisitors, 'requireMay'>
  readonly live: LiveSessions
  readonly open: OpenVisits
  readonly publicMarks: PublicMarks
  readonly background: Background
  readonly clock: Clock
}

/** Ends exchanges with applications when those who began them may no longer use them. */
export class Revocations {
  readonly #parts: RevocationsParts
  #subscriptions: (() => void)[] = []
  #cancel: (() => void) | undefined
  #count = 0

  constructor(parts: RevocationsParts) {
    this.#parts = parts
  }

  /** How often something changed on which somebody's right may depend. */
  get count(): number {
    return this.#count
  }

  begin(): void {
    const { sessions, accounts, access, workspaces, live, publicMarks } = this.#parts
    this.#subscriptions = [
      sessions.ended.subscribe(({ userId }) => {
        live.forgetAll()
        this.#changed((visit) => visit.visitor?.userId === userId)
      }),
      sessions.refreshed.subscribe(() => live.forgetAll()),
      accounts.shutOut.subscribe(({ userId }) => this.#changed((visit) => visit.visitor?.userId === userId)),
      accounts.changed.subscribe(({ userId }) => this.#changed((visit) => visit.visitor?.userId === userId)),
      access.changed.subscribe(() => this.#changed(() => true)),
      workspaces.changed.subscribe(({ workspaceId }) => {
        publicMarks.forget(workspaceId)
        this.#changed((visit) => visit.workspaceId === workspaceId)
      }),
    ]
    this.#lookLater()
  }

  /** Ends what is under way: the server ends. */
  end(): void {
    for (const endSubscription of this.#subscriptions) endSubscription()
    this.#cancel?.()
    for (const visit of this.#parts.open.all()) visit.gone.abort()
  }

  /** Decides again about each of them. What cannot be found out ends it. */
  review(visits: Iterable<OpenVisit>): void {
    for (const visit of visits) {
      this.#parts.background.run('deciding again about a visitor of a hosted application', async () => {
        try {
          if (!(await this.#isStillGood(visit))) visit.gone.abort()
        } catch (error) {
          visit.gone.abort()
          throw error
        }
      })
    }
  }

  #changed(concerns: (visit: OpenVisit) => boolean): void {
    this.#count++
    this.review(this.#parts.open.all().filter(concerns))
  }

  async #isStillGood({ workspaceId, visitor }: OpenVisit): Promise<boolean> {
    const { publicMarks, visitors } = this.#parts
    if (await publicMarks.has(workspaceId)) return true
    if (!visitor) return false
    return visitors.requireMay(visitor, workspaceId).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError) return false
        throw error
      },
    )
  }

  #lookLater(): void {
    this.#cancel = this.#parts.clock.after(LOOK_EVERY_MS, () => {
      this.review(this.#parts.open.all())
      this.#lookLater()
    })
  }
}
