import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { StallWatch } from './stall-watch.ts'

function watch() {
  const clock = new FakeClock()
  let stalls = 0
  const watch = new StallWatch({ clock, limitMs: 1000, stalled: () => stalls++ })
  return { clock, watch, stalls: () => stalls }
}

test('what moves in every interval never stalls', () => {
  const { clock, watch: moving, stalls } = watch()
  for (let n = 0; n < 10; n++) {
    moving.moved()
    clock.advance(1000)
  }
  expect(stalls()).toBe(0)
})

test('what moves no more is noticed within two intervals, once', () => {
  const { clock, watch: moving, stalls } = watch()
  moving.moved()
  clock.advance(1999)
  expect(stalls()).toBe(0)
  clock.advance(1)
  expect(stalls()).toBe(1)
  clock.advance(10_000)
  expect(stalls()).toBe(1)
})

test('what has ended does not stall', () => {
  const { clock, watch: ended, stalls } = watch()
  ended.end()
  clock.advance(10_000)
  expect(stalls()).toBe(0)
})
