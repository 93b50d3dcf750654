import { expect, test } from 'vitest'
import { SpareMemory } from './spare-memory.ts'

test('memory that was given back is lent again, as long as is asked for', () => {
  const memory = new SpareMemory(1)
  const first = memory.lend(50_000)
  memory.giveBack(first)
  const second = memory.lend(60_000)
  expect([second.buffer, second.length]).toEqual([first.buffer, 60_000])
})

test('nobody has the same memory at the same time', () => {
  const memory = new SpareMemory(2)
  const first = memory.lend(50_000)
  memory.giveBack(first)
  memory.giveBack(first)
  const lent = [memory.lend(50_000), memory.lend(50_000), memory.lend(50_000)]
  expect(new Set(lent.map(({ buffer }) => buffer)).size).toBe(3)
})

test.each([1, 100, 100_000])('what is not worth it is new each time: %i bytes', (size) => {
  const memory = new SpareMemory(2)
  const first = memory.lend(size)
  memory.giveBack(first)
  const second = memory.lend(size)
  expect(second.length).toBe(size)
  expect(second.buffer).not.toBe(first.buffer)
})

test('what was never lent is not kept, and no more than so many', () => {
  const memory = new SpareMemory(1)
  memory.giveBack(new Uint8Array(50_000))
  const [first, second] = [memory.lend(50_000), memory.lend(50_000)]
  memory.giveBack(first)
  memory.giveBack(second)
  expect(memory.lend(50_000).buffer).toBe(first.buffer)
  expect(memory.lend(50_000).buffer).not.toBe(second.buffer)
})
