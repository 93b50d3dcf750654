import { describe, expect, test } from 'vitest'
import { AgentMessages, BrokenAgentStream, MAX_MESSAGE_BYTES } from './agent-messages.ts'

function message(length: number): Buffer {
  const bytes = Buffer.alloc(4 + length, length)
  bytes.writeUInt32BE(length)
  return bytes
}
const head = (length: number) => Buffer.from(Uint32Array.of(length).buffer).swap32()

describe('a stream of agent messages', () => {
  const sizes = [1, 5, 300, 1, MAX_MESSAGE_BYTES, 2]
  const stream = Buffer.concat(sizes.map(message))

  test.each([1, 3, 4, 5, 7, 1000, 65_536, stream.length])(
    'is cut into messages when it comes in pieces of %d',
    (size) => {
      const messages = new AgentMessages()
      const cut: Uint8Array[] = []
      for (let at = 0; at < stream.length; at += size) cut.push(...messages.push(stream.subarray(at, at + size)))
      expect(cut.map(({ length }) => length - 4)).toEqual(sizes)
      expect(Buffer.concat(cut).equals(stream)).toBe(true)
    },
  )

  test('holds back one that is not complete', () => {
    const messages = new AgentMessages()
    expect(messages.push(message(10).subarray(0, 13))).toEqual([])
    expect(messages.push(new Uint8Array())).toEqual([])
    expect(messages.push(Uint8Array.of(10))).toHaveLength(1)
  })
})

test.each([0, MAX_MESSAGE_BYTES + 1, 0x4745_5420, 0xffff_ffff])('a message of %d bytes is none', (length) => {
  expect(() => new AgentMessages().push(head(length))).toThrow(BrokenAgentStream)
})
