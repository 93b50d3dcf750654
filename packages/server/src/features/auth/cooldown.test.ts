import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Cooldown } from './cooldown.ts'

const isFree = (cooldown: Cooldown, address: string): boolean => {
  try {
    cooldown.begin(address)
    return true
  } catch {
    return false
  }
}

test('an address is free again after a minute, in whatever case it is written', () => {
  const clock = new FakeClock()
  const cooldown = new Cooldown(clock)
  expect(isFree(cooldown, 'ann@example.com')).toBe(true)
  clock.advance(59_999)
  expect(isFree(cooldown, ' ANN@example.com ')).toBe(false)
  clock.advance(1)
  expect(isFree(cooldown, 'ann@example.com')).toBe(true)
})

test('it can be taken back', () => {
  const cooldown = new Cooldown(new FakeClock())
  cooldown.begin('ann@example.com')()
  expect(isFree(cooldown, 'ann@example.com')).toBe(true)
})

test('a clock that is set back makes nobody wait for hours', () => {
  const clock = new FakeClock()
  const cooldown = new Cooldown(clock)
  cooldown.begin('ann@example.com')
  clock.advance(-3_600_000)
  expect(isFree(cooldown, 'ann@example.com')).toBe(true)
})

test('ten thousand addresses are remembered and no more; the oldest is forgotten first', () => {
  const cooldown = new Cooldown(new FakeClock())
  for (let i = 0; i <= 10_000; i++) cooldown.begin(`${i}@example.com`)
  expect([isFree(cooldown, '10000@example.com'), isFree(cooldown, '1@example.com')]).toEqual([false, false])
  expect(isFree(cooldown, '0@example.com')).toBe(true)
})
