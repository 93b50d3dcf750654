import { expect, test } from 'vitest'
import { type Size, type SizeWish, sizeFor, sizeFrom } from './terminal-size.ts'

const size = (cols: number, rows: number): Size => ({ cols, rows })
const wish = (access: SizeWish['access'], cols: number, rows: number, usedAt = 0): SizeWish => ({
  access,
  size: size(cols, rows),
  usedAt,
})

test.each<[why: string, wishes: SizeWish[], Size | undefined]>([
  ['nobody watches', [], undefined],
  ['only spectators watch', [wish('read-only', 10, 10)], undefined],
  ['the owner watches', [wish('own', 100, 40)], size(100, 40)],
  ['the owner used another tab last', [wish('own', 100, 40, 1), wish('own', 60, 20, 2)], size(60, 20)],
  ['the owner watches with others', [wish('own', 100, 40), wish('read-write', 50, 10, 9)], size(100, 40)],
  ['one who may type watches', [wish('read-write', 90, 30), wish('read-only', 10, 10)], size(90, 30)],
  ['several who may type watch', [wish('read-write', 90, 20), wish('read-write', 70, 30)], size(70, 20)],
])('when %s, the size is theirs who have a say', (_why, wishes, expected) => {
  expect(sizeFor(wishes)).toEqual(expected)
})

test.each<[why: string, said: { cols?: number; rows?: number }, Size]>([
  ['says all', { cols: 120, rows: 50 }, size(120, 50)],
  ['says nothing', {}, size(80, 24)],
  ['says half of it', { rows: 50 }, size(80, 50)],
  ['has no room', { cols: 0, rows: 0 }, size(80, 24)],
  ['has more room than a terminal can fill', { cols: 65_535, rows: 1001 }, size(1000, 1000)],
])('a client that %s has a size that a terminal can have', (_why, said, expected) => {
  expect(sizeFrom(size(80, 24), said)).toEqual(expected)
})
