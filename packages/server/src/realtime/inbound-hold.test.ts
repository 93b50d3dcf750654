import { expect, test } from 'vitest'
import { InboundHold } from './inbound-hold.ts'

function hold() {
  const story: boolean[] = []
  const held: InboundHold = new InboundHold({ changed: () => story.push(held.isPaused) })
  return { held, story }
}

test('a client is not read while more than a megabyte of it waits, and again when half of that is dealt with', () => {
  const { held, story } = hold()
  const [first, second] = [held.hold(600_000), held.hold(600_000)]
  expect(story).toEqual([true])
  first()
  first()
  expect(story).toEqual([true])
  second()
  expect(story).toEqual([true, false])
})

test('messages of a single byte are not free: a few thousand are as much as anybody can have waiting', () => {
  const { held } = hold()
  let count = 0
  for (; !held.isPaused && count < 100_000; count++) held.hold(1)
  expect(count).toBeLessThan(4096)
})
