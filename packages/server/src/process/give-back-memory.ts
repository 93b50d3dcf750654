import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loading and wiring the program leaves some twenty megabytes of garbage, and V8 keeps the space for it as long as it
 * has nothing better to do. One thorough collection before the first request gives them back; it takes a tenth of a
 * second, so it must not be called once there are requests.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
