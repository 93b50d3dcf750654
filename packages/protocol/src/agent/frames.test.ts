import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  BrokenFrame,
  encodeFrame,
  type Frame,
  type FrameKind,
  FrameReader,
  frameKinds,
  MAX_PAYLOAD_BYTES,
} from './frames.ts'

const kinds: FrameKind[] = ['open', 'message', 'data', 'errorData', 'end', 'credit', 'close']
const frame = fc.record({
  kind: fc.constantFrom(...kinds),
  channel: fc.nat(0xffff_ffff),
  payload: fc.uint8Array({ maxLength: 300 }),
})
const plain = ({ kind, channel, payload }: Frame) => ({ kind, channel, payload: [...payload] })

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

/** Cuts bytes at these places, in turns. */
function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

test('every kind is known by its number', () => {
  expect(Object.keys(frameKinds)).toEqual(kinds)
})

test('frames arrive as they were sent, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (frames, sizes) => {
      const reader = new FrameReader()
      const received = [...cut(join(frames.map((one) => encodeFrame(one))), sizes)].flatMap((chunk) =>
        reader.push(chunk),
      )
      expect(received.map(plain)).toEqual(frames.map(plain))
    }),
  )
})

test('a large frame of bytes is handed on in parts, as it comes, and not copied', () => {
  const payload = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251)
  const stream = join([
    encodeFrame({ kind: 'data', channel: 5, payload }),
    encodeFrame({ kind: 'end', channel: 5, payload: new Uint8Array() }),
  ])
  const reader = new FrameReader()
  const chunks = [...cut(stream, [40_000])]
  const parts = chunks.map((chunk) => reader.push(chunk))
  expect(parts.map((frames) => frames.map(({ kind, payload }) => [kind, payload.length]))).toEqual([
    [['data', 39_991]],
    [['data', 40_000]],
    [
      ['data', 20_009],
      ['end', 0],
    ],
  ])
  const data = parts.flat().filter(({ kind }) => kind === 'data')
  expect(data.every(({ channel, payload }, n) => channel === 5 && payload.buffer === chunks[n]?.buffer)).toBe(true)
  expect(join(data.map(({ payload }) => payload))).toEqual(payload)
})

test('a large message is handed on whole', () => {
  const payload = new Uint8Array(100_000).fill(7)
  const reader = new FrameReader()
  const frames = [...cut(encodeFrame({ kind: 'message', channel: 5, payload }), [40_000])].flatMap((chunk) =>
    reader.push(chunk),
  )
  expect(frames).toEqual([{ kind: 'message', channel: 5, payload }])
})

test('a large frame that comes byte by byte costs each byte once', () => {
  const bytes = encodeFrame({ kind: 'data', channel: 1, payload: new Uint8Array(MAX_PAYLOAD_BYTES).fill(7) })
  const reader = new FrameReader()
  const frames = Array.from(bytes, (_, at) => reader.push(bytes.subarray(at, at + 1))).flat()
  expect(frames).toHaveLength(1)
  expect(frames[0]?.payload.every((byte) => byte === 7)).toBe(true)
})

test.each([
  ['shorter than its head', [0, 0, 0, 4]],
  ['longer than any of ours', [0, 0x10, 0, 6]],
  ['of unknown kind', [0, 0, 0, 5, 99, 0, 0, 0, 1]],
  ['of kind zero', [0, 0, 0, 5, 0, 0, 0, 0, 1]],
])('a frame %s is refused', (_, bytes) => {
  expect(() => new FrameReader().push(Uint8Array.from(bytes))).toThrow(BrokenFrame)
})

test('a length that is too large is refused before any of it is kept', () => {
  const reader = new FrameReader()
  reader.push(Uint8Array.from([0xff, 0xff, 0xff]))
  expect(() => reader.push(Uint8Array.from([0xff]))).toThrow(BrokenFrame)
})

test('a payload that the other side would refuse is not sent', () => {
  const payload = new Uint8Array(MAX_PAYLOAD_BYTES + 1)
  expect(() => encodeFrame({ kind: 'message', channel: 1, payload })).toThrow(RangeError)
})
