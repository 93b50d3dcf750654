import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutputRing, RING_BYTES } from './output-ring.ts'

test('what is held can be read from any position, and is the latest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 300_000 }), { maxLength: 30 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (sizes, part) => {
        const ring = new OutputRing()
        let next = 0
        for (const size of sizes) ring.append(Uint8Array.from({ length: size }, () => next++ % 251))
        expect(ring.end).toBe(next)
        expect(ring.end - ring.start).toBeGreaterThanOrEqual(Math.min(next, RING_BYTES))
        expect(ring.end - ring.start).toBeLessThan(RING_BYTES + 128 * 1024)
        const from = ring.start + Math.floor(part * (ring.end - ring.start))
        const bytes = ring.copy(from, ring.end)
        expect(bytes.length).toBe(ring.end - from)
        expect(bytes.every((byte, at) => byte === (from + at) % 251)).toBe(true)
      },
    ),
    { numRuns: 30 },
  )
})

test('bytes that were read stay as they are when the ring has moved on', () => {
  const ring = new OutputRing()
  ring.append(Buffer.from('first'))
  const read = ring.read(0, 100)
  ring.append(Buffer.alloc(3 * RING_BYTES, 'x'))
  expect(read.toString()).toBe('first')
  expect(ring.holds(0)).toBe(false)
  expect(() => ring.read(0, 1)).toThrow(RangeError)
})

test('memory is used again, but not what somebody still looks at', () => {
  const used = { from: Infinity }
  const ring = new OutputRing(() => used.from)
  const memory = new Set<ArrayBufferLike>()
  const flood = (letter: string) => {
    for (let size = 0; size < 3 * RING_BYTES; size += 10_000) {
      ring.append(Buffer.alloc(10_000, letter))
      memory.add(ring.read(ring.end - 1, 1).buffer)
    }
  }
  flood('a')
  const blocks = memory.size
  flood('b')
  expect(memory.size).toBe(blocks)
  used.from = ring.end - 100
  const looked = ring.read(used.from, 100)
  flood('c')
  expect(looked.every((byte) => byte === Buffer.from('b')[0])).toBe(true)
  used.from = Infinity
  expect(ring.copy(ring.start, ring.end).every((byte) => byte === Buffer.from('c')[0])).toBe(true)
})
