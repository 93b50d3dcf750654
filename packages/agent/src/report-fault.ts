import { inspect } from 'node:util'

/** Tells of a fault in the agent itself, with all its causes, where the container's log has it. */
export function reportFault(fault: unknown): void {
  process.stderr.write(`svc agent: ${inspect(fault)}\n`)
}
