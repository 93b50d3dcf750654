import { randomBytes } from 'node:crypto'

/** Short, and unlike those of any earlier start of the server. */
export function requestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}
