import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { RepeatCounter } from './repeat-counter.ts'

test('the first time is worth a record, and then once a minute with the number in between', () => {
  const clock = new FakeClock()
  const counter = new RepeatCounter(clock)
  const counts = [counter.count('a'), counter.count('a'), counter.count('a'), counter.count('b')]
  expect(counts).toEqual([0, undefined, undefined, 0])
  clock.advance(60_000)
  expect([counter.count('a'), counter.count('a'), counter.count('b')]).toEqual([2, undefined, 0])
})

test('it remembers ten thousand and no more', () => {
  const counter = new RepeatCounter(new FakeClock())
  counter.count('first')
  for (let i = 0; i < 10_000; i++) counter.count(String(i))
  expect([counter.count('first'), counter.count('9999')]).toEqual([0, undefined])
})
