import { expect, test } from 'vitest'
import { volumeIn } from './volume-list.ts'

test.each([
  ['data:/data', 'data'],
  ['data:/data:ro', 'data'],
  ['/srv/data:/data', undefined],
  ['./data:/data', undefined],
  ['../data:/data', undefined],
  ['.hidden:/data', undefined],
  ['a/b:/data', undefined],
  ['', undefined],
])('the mount "%s" refers to the volume %s', (mount, volume) => {
  expect(volumeIn(mount)).toBe(volume)
})
