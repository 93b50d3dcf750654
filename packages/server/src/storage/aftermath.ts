import type { Transaction } from 'kysely'
import type { Logger } from '../kernel/logger.ts'
import type { Database } from './database.ts'

interface Plan {
  readonly whenOver: (() => void)[]
  readonly whenCommitted: (() => void)[]
}

const plans = new WeakMap<Transaction<Database>, Plan>()

/**
 * Has `action` called when the transaction is over, however it ended and before its caller goes on: for memory that
 * must forget what it read. A commit whose answer was lost may have happened, so failure is no reason to remember.
 */
export function whenOver(tx: Transaction<Database>, action: () => void): void {
  planOf(tx).whenOver.push(action)
}

/** Has `action` called once the transaction is durable and memory has forgotten, and never otherwise: to tell others. */
export function whenCommitted(tx: Transaction<Database>, action: () => void): void {
  planOf(tx).whenCommitted.push(action)
}

function planOf(tx: Transaction<Database>): Plan {
  const plan = plans.get(tx)
  if (!plan) throw new Error('this is no open transaction of the storage')
  return plan
}

/** What every driver runs its transactions with. An action that throws is a fault of ours, and keeps no other from its turn. */
export async function withAftermath<T>(
  run: (work: (tx: Transaction<Database>) => Promise<T>) => Promise<T>,
  work: (tx: Transaction<Database>) => Promise<T>,
  logger: Logger,
): Promise<T> {
  const plan: Plan = { whenOver: [], whenCommitted: [] }
  const runAll = (actions: readonly (() => void)[]) => {
    for (const action of actions) {
      try {
        action()
      } catch (error) {
        logger.error('a part of the server could not follow a change of the database', { error })
      }
    }
  }
  let result: T
  try {
    result = await run((tx) => {
      plans.set(tx, plan)
      return work(tx)
    })
  } finally {
    runAll(plan.whenOver)
  }
  runAll(plan.whenCommitted)
  return result
}
