import type { Transaction } from 'kysely'
import type { Database } from './database.ts'

type Outcome = 'committed' | 'not known to be committed'

const plans = new WeakMap<Transaction<Database>, ((outcome: Outcome) => void)[]>()

/**
 * Has `action` called when the transaction is over, however it ended and before its caller goes on: for memory that
 * must forget what it read. A commit whose answer was lost may have happened, so failure is no reason to remember.
 */
export function whenOver(tx: Transaction<Database>, action: () => void): void {
  planOf(tx).push(action)
}

/** Has `action` called once the transaction is durable, and never when it is not: for telling others. */
export function whenCommitted(tx: Transaction<Database>, action: () => void): void {
  planOf(tx).push((outcome) => {
    if (outcome === 'committed') action()
  })
}

function planOf(tx: Transaction<Database>): ((outcome: Outcome) => void)[] {
  const plan = plans.get(tx)
  if (!plan) throw new Error('this is no open transaction of the storage')
  return plan
}

/** What every driver runs its transactions with. */
export async function withAftermath<T>(
  run: (work: (tx: Transaction<Database>) => Promise<T>) => Promise<T>,
  work: (tx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  const plan: ((outcome: Outcome) => void)[] = []
  let outcome: Outcome = 'not known to be committed'
  try {
    const result = await run((tx) => {
      plans.set(tx, plan)
      return work(tx)
    })
    outcome = 'committed'
    return result
  } finally {
    for (const action of plan) action(outcome)
  }
}
