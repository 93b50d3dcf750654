import type { Clock } from '../../kernel/clock.ts'
import { type Check, type DoctorContext, error, type Finding } from './check.ts'

const USUAL_LIMIT_MS = 5_000

export interface NamedFinding extends Finding {
  readonly name: string
}

/** Makes all checks at once; the findings come in the order of the table. One that throws, or hangs, is a finding too. */
export function runChecks(checks: readonly Check[], context: DoctorContext, clock: Clock): Promise<NamedFinding[]> {
  return Promise.all(checks.map(async (check) => ({ name: check.name, ...(await runWithin(check, context, clock)) })))
}

async function runWithin(check: Check, context: DoctorContext, clock: Clock): Promise<Finding> {
  const limitMs = check.limitMs ?? USUAL_LIMIT_MS
  const late = Promise.withResolvers<Finding>()
  const cancel = clock.after(limitMs, () => late.resolve(error(`no answer within ${limitMs / 1000} seconds`)))
  try {
    return await Promise.race([check.run(context), late.promise])
  } catch (fault) {
    return error(`the check failed: ${fault instanceof Error ? fault.message : String(fault)}`)
  } finally {
    cancel()
  }
}
