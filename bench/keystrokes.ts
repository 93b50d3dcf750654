import { setTimeout as delay } from 'node:timers/promises'

/** As somebody types who is quicker than anybody. */
const PAUSE_MS = 10

export interface Keyboard {
  type(key: string): void
  /** Resolves with the next output. */
  echoed(): Promise<void>
}

/** Milliseconds from each key to its echo, one key at a time. */
export async function typeKeys({ type, echoed }: Keyboard, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    await delay(PAUSE_MS)
    const echo = echoed()
    const typedMs = performance.now()
    type('x')
    await echo
    times.push(performance.now() - typedMs)
  }
  return times
}
