import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteQueue } from './byte-queue.ts'

test('everything comes out once and in order, however it was cut and read', () => {
  const length = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 40_000 }))
  const step = fc.oneof(
    { weight: 2, arbitrary: length.map((push) => ({ push })) },
    { weight: 1, arbitrary: fc.constant('shift' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const queue = new ByteQueue()
      const read: Uint8Array[] = []
      let pushed = 0
      for (const next of steps) {
        if (next === 'shift') read.push(queue.shift() ?? new Uint8Array())
        else {
          queue.push(Uint8Array.from({ length: next.push }, (_, at) => (pushed + at) % 251))
          pushed += next.push
        }
      }
      for (let piece = queue.shift(); piece; piece = queue.shift()) read.push(piece)
      const all = Buffer.concat(read)
      expect(all).toHaveLength(pushed)
      expect(all.every((byte, at) => byte === at % 251)).toBe(true)
      expect(queue.length).toBe(0)
    }),
    { numRuns: 200 },
  )
})

test('single bytes cost about their number, not the reads in which they came', () => {
  const queue = new ByteQueue()
  for (let count = 0; count < 20_000; count++) queue.push(new Uint8Array(64 * 1024).subarray(0, 1))
  let memory = 0
  let pieces = 0
  for (let piece = queue.shift(); piece; piece = queue.shift(), pieces++) memory += piece.buffer.byteLength
  expect(memory).toBeLessThan(60_000)
  expect(pieces).toBeLessThan(5)
})

test('what was cleared is gone, and counted', () => {
  const queue = new ByteQueue()
  for (const length of [1, 2, 20_000]) queue.push(new Uint8Array(length))
  expect(queue.clear()).toBe(20_003)
  expect(queue.shift()).toBeUndefined()
})
