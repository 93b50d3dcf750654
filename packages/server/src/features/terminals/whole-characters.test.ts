import { expect, test } from 'vitest'
import { wholeCharacters } from './whole-characters.ts'

test.each<[what: string, bytes: number[], whole: number]>([
  ['nothing', [], 0],
  ['plain text', [0x61, 0x62], 2],
  ['a whole character of two bytes', [0xc3, 0xbc], 2],
  ['the first of two bytes', [0x61, 0xc3], 1],
  ['two of three bytes', [0x61, 0xe2, 0x82], 1],
  ['one of three bytes', [0xe2], 0],
  ['a whole character of three bytes', [0xe2, 0x82, 0xac], 3],
  ['three of four bytes', [0x61, 0xf0, 0x9f, 0x98], 1],
  ['a whole character of four bytes', [0xf0, 0x9f, 0x98, 0x80], 4],
  ['bytes that continue nothing', [0x61, 0x80, 0x80, 0x80], 4],
  ['a byte that begins nothing', [0x61, 0xff], 2],
  ['an overlong beginning', [0xc0], 1],
  ['a second byte that cannot follow its first', [0xe0, 0x80], 2],
  ['half of a surrogate', [0xed, 0xa0], 2],
  ['a character above the last one', [0xf4, 0x90, 0x80], 3],
])('%s', (_what, bytes, whole) => {
  expect(wholeCharacters(Uint8Array.from(bytes))).toBe(whole)
})

test('a text that is cut anywhere is the same text', () => {
  const bytes = Buffer.from('aé€😀 \u0301z😀😀')
  const broken = Buffer.from([0x61, 0xe2, 0x28, 0xa1, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0x80, 0xc3])
  for (const all of [bytes, broken]) {
    for (let at = 0; at <= all.length; at++) {
      const whole = wholeCharacters(all.subarray(0, at))
      expect(all.toString('utf8', 0, whole) + all.toString('utf8', whole)).toBe(all.toString())
    }
  }
})
