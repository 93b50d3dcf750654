import { expect, test } from 'vitest'
import { parseSearch, stringifySearch } from './search-params.ts'

const cases = [
  { values: { op: 'get-/health' }, search: '?op=get-/health' },
  { values: { op: 'get-/api/v1/workspaces/{id}' }, search: '?op=get-/api/v1/workspaces/%7Bid%7D' },
  { values: { token: '1e5' }, search: '?token=1e5' },
  { values: { text: 'a&b=c +d' }, search: '?text=a%26b%3Dc%20%2Bd' },
  { values: {}, search: '' },
]

test.each(cases)('"$search" is written and read back unchanged', ({ values, search }) => {
  expect(stringifySearch(values)).toBe(search)
  expect(parseSearch(search)).toEqual(values)
})

test('a value that is not set leaves no trace', () => {
  expect(stringifySearch({ op: undefined })).toBe('')
})
