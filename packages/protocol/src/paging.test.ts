import { expect, test } from 'vitest'
import { PageNumber, PageSize } from './paging.ts'

test.each([
  ['1', 1],
  ['7', 7],
  ['', 1],
  ['0', 1],
  ['-3', 1],
  ['99999999999999999999', 1_000_000_000],
])('page %j is page %i', (text, page) => {
  expect(PageNumber.parse(text)).toBe(page)
})

test.each([
  ['0', 1],
  ['50', 50],
  ['5000', 200],
])('a page size of %j is %i', (text, size) => {
  expect(PageSize.parse(text)).toBe(size)
})

test.each(['first', '1.5', 'NaN', 'Infinity', ['1', '2']])('%j is no page', (text) => {
  expect(PageNumber.safeParse(text).success).toBe(false)
})
