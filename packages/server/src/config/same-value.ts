import { isRecord } from './formats.ts'
import { Secret } from './secret.ts'

/** Whether two setting values are equal, secrets included: to every other comparison all secrets look alike. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a instanceof Secret && b instanceof Secret) return a.reveal() === b.reveal()
  if (a instanceof Map && b instanceof Map) return sameValue([...a], [...b])
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]))
  }
  if (isRecord(a) && isRecord(b) && !(a instanceof Secret) && !(b instanceof Secret)) {
    return sameValue(Object.entries(a), Object.entries(b))
  }
  return Object.is(a, b)
}
