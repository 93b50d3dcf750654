import { expect, test } from 'vitest'
import { HolesSoFar } from './holes-so-far.ts'

const GIB = 1024 ** 3
const blocksFor = (bytes: number) => Math.ceil(bytes / 512)

test.each([
  ['an empty file', 0, 0, false],
  ['a full file of any size', 100 * GIB, 100 * GIB, false],
  ['holes of 1 GiB', GIB, 0, false],
  ['holes of a byte more', GIB + 1, 0, true],
  ['one of which a 64th is there', 64 * GIB, GIB, false],
  ['one of which a little less is there', 64 * GIB, GIB - 512, true],
])('%s: %d bytes with %d on the disk, refused: %s', (_, size, allocated, refused) => {
  expect(new HolesSoFar().refuse({ size, blocks: blocksFor(allocated) })).toBe(refused)
})

test('many smaller ones are taken up to 64 GiB together', () => {
  const holes = new HolesSoFar()
  const refused = Array.from({ length: 100 }, () => holes.refuse({ size: GIB, blocks: 0 }))
  expect(refused.filter((each) => !each)).toHaveLength(64)
  expect(holes.refuse({ size: GIB, blocks: blocksFor(GIB) })).toBe(false)
})
