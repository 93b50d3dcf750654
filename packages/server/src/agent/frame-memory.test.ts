import { expect, test } from 'vitest'
import { FrameMemory } from './frame-memory.ts'

test('memory is lent again once it was given back, and not before', () => {
  const memory = new FrameMemory()
  const [one, other] = [memory.lend(65_545), memory.lend(65_545)]
  expect(one.buffer).not.toBe(other.buffer)
  memory.giveBack(one)
  const again = memory.lend(5000)
  expect([again.buffer === one.buffer, again.length, again.byteOffset]).toEqual([true, 5000, 0])
})

test('small frames, very large ones, and what was not lent, are not kept', () => {
  const memory = new FrameMemory()
  for (const bytes of [memory.lend(100), memory.lend(200_000), new Uint8Array(65_545)]) {
    memory.giveBack(bytes)
    expect(memory.lend(bytes.length).buffer).not.toBe(bytes.buffer)
  }
})

test('no more is kept than is ever needed', () => {
  const memory = new FrameMemory()
  const many = Array.from({ length: 20 }, () => memory.lend(65_545))
  for (const bytes of many) memory.giveBack(bytes)
  const again = Array.from({ length: 20 }, () => memory.lend(65_545).buffer)
  expect(again.filter((buffer) => many.some((bytes) => bytes.buffer === buffer))).toHaveLength(8)
})
