import { expect, test } from 'vitest'
import { afterFailure, type Failures, lockedForSeconds } from './failures.ts'

const rule = { failures: 3, windowSeconds: 300, durationSeconds: 900 }

const after = (moments: readonly number[]): Failures | undefined =>
  moments.reduce<Failures | undefined>((before, now) => afterFailure(before, now, rule), undefined)

test.each([
  { why: 'one failure is none too many', moments: [0], lockedAt: 0, seconds: 0 },
  { why: 'the third locks', moments: [0, 1, 2], lockedAt: 2, seconds: 900 },
  { why: 'a lock grows shorter', moments: [0, 1, 2], lockedAt: 602, seconds: 300 },
  { why: 'and ends', moments: [0, 1, 2], lockedAt: 902, seconds: 0 },
  { why: 'failures at the edge of the window count', moments: [0, 299, 300], lockedAt: 300, seconds: 900 },
  { why: 'failures beyond it begin anew', moments: [0, 1, 301], lockedAt: 301, seconds: 0 },
  { why: 'a failure meanwhile makes it no longer', moments: [0, 1, 2, 600], lockedAt: 602, seconds: 300 },
  { why: 'after a lock the count begins anew', moments: [0, 1, 2, 1000], lockedAt: 1000, seconds: 0 },
  { why: 'and can reach the limit again', moments: [0, 1, 2, 1000, 1001, 1002], lockedAt: 1002, seconds: 900 },
])('$why', ({ moments, lockedAt, seconds }) => {
  expect(lockedForSeconds(after(moments), lockedAt)).toBe(seconds)
})
