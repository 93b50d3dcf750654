import { expect, test } from 'vitest'
import { jsonLines } from './json-lines.ts'

const text = '{"name":"Zürich 🚀"}\n{"a":1}\n\n{"b":[1,2]}\n'
const values = [{ name: 'Zürich 🚀' }, { a: 1 }, { b: [1, 2] }]

async function read(chunks: Iterable<Uint8Array>): Promise<unknown[]> {
  async function* stream() {
    yield* chunks
  }
  const values: unknown[] = []
  for await (const value of jsonLines(stream())) values.push(value)
  return values
}

test.each([1, 2, 3, 7, 1000])('values are the same however the stream is cut: %i bytes at a time', async (size) => {
  const bytes = Buffer.from(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
  expect(await read(chunks)).toEqual(values)
})

test('a last line without an end is read, and one that was cut off is not', async () => {
  expect(await read([Buffer.from('{"a":1}')])).toEqual([{ a: 1 }])
  expect(await read([Buffer.from('{"a":1}\n{"b":')])).toEqual([{ a: 1 }])
})
