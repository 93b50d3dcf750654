import { expect, test } from 'vitest'
import { readableOn } from './brand-colors.ts'

test.each([
  ['#000000', '#ffffff'],
  ['#ffffff', '#000000'],
  ['#fff', '#000000'],
  ['#00f', '#ffffff'],
  ['#ffd54f', '#000000'],
  ['#E65100', '#000000'],
  ['#B71C1C', '#ffffff'],
])('on %s the readable text is %s', (color, text) => {
  expect(readableOn(color)).toBe(text)
})
