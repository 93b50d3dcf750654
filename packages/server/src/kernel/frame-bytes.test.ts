import { expect, test } from 'vitest'
import { bytesFromBase64 } from './frame-bytes.ts'

test.each([0, 1, 2, 3, 4, 255, 256])('%i bytes arrive as they were sent', (length) => {
  const bytes = Buffer.from(Array.from({ length }, (_, at) => at))
  expect(bytesFromBase64(bytes.toString('base64'), { maxBytes: length })).toEqual(bytes)
})

test.each(['a', 'ab', 'abc', 'YQ', 'YQ=', 'YR==', 'YQ==\n', ' YQ==', 'Y-_=', 'YQ==YQ==', 'ä', '===='])(
  '%j is not base64',
  (text) => {
    expect(() => bytesFromBase64(text, { maxBytes: 100 })).toThrow(expect.objectContaining({ code: 'invalid' }))
  },
)

test.each([1, 2, 3, 4])('a byte above the limit is too much, %i', (length) => {
  const text = Buffer.alloc(length).toString('base64')
  expect(() => bytesFromBase64(text, { maxBytes: length - 1 })).toThrow(expect.objectContaining({ code: 'too_large' }))
})
