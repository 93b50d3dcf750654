import { expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { Expiry } from './expiry.ts'

/** As long as a real timer can wait. */
const LONGEST_MS = 2 ** 31 - 1

function expiry() {
  const delays: number[] = []
  const clock = new FakeClock()
  let expired = 0
  const watched = {
    nowMs: () => clock.nowMs(),
    after(delayMs: number, work: () => void) {
      delays.push(delayMs)
      return clock.after(delayMs, work)
    },
  }
  const subject = new Expiry({ clock: watched, expired: () => void expired++ })
  return { clock, delays, subject, expired: () => expired, in: (ms: number) => (clock.nowMs() + ms) / 1000 }
}

test('a moment months away comes when it comes, by timers that can wait that long', () => {
  const { clock, delays, subject, expired, in: after } = expiry()
  subject.set(after(3 * LONGEST_MS))
  clock.advance(3 * LONGEST_MS - 1)
  expect(expired()).toBe(0)
  clock.advance(1)
  expect(expired()).toBe(1)
  expect(Math.max(...delays)).toBeLessThan(LONGEST_MS)
  clock.advance(LONGEST_MS)
  expect(expired()).toBe(1)
})

test('a moment that is put off, or dropped, does not come', () => {
  const { clock, subject, expired, in: after } = expiry()
  subject.set(after(1000))
  subject.set(after(5000))
  clock.advance(4999)
  expect(expired()).toBe(0)
  subject.stop()
  clock.advance(10_000)
  expect(expired()).toBe(0)
})

test('a moment that has passed comes at once, by a timer', () => {
  const { clock, subject, expired, in: after } = expiry()
  subject.set(after(-5000))
  expect(expired()).toBe(0)
  clock.advance(0)
  expect(expired()).toBe(1)
})
