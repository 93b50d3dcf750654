/**
 * The byte stream between the server and the agent in a workspace: frames, each for one channel.
 *
 *     length (4 bytes, big endian, of what follows) · kind (1) · channel (4, big endian) · payload
 *
 * A channel is one request and everything that belongs to it. Either side opens one: the server with odd numbers, the
 * agent with even ones; a number is never used twice on a connection. Byte streams on a channel flow against credit:
 * who sends `data` or `errorData` spends one credit for each byte, and starts with `INITIAL_CREDIT`. So a slow reader
 * holds up only its own channel, and neither side has to keep more than that for it. Messages are small and free.
 */
export const frameKinds = {
  /** First frame of a channel: a request as JSON (`requests.ts`). */
  open: 1,
  /** Something that happened on the channel, as JSON (`requests.ts`). */
  message: 2,
  /** Bytes: standard input, standard output, the content of a file. Costs credit. */
  data: 3,
  /** Bytes of standard error. Costs credit, from the same account. */
  errorData: 4,
  /** The sender has no more bytes; the other direction stays open. */
  end: 5,
  /** Four bytes, big endian: the receiver of bytes is ready for so many more. */
  credit: 6,
  /** Last frame of a channel in both directions: empty, or why it failed, as JSON (`channel-error.ts`). */
  close: 7,
} as const

export type FrameKind = keyof typeof frameKinds

export interface Frame {
  readonly kind: FrameKind
  readonly channel: number
  readonly payload: Uint8Array
}

/** What a side may send on a new channel before it hears of more. */
export const INITIAL_CREDIT = 256 * 1024
/** Bytes are cut into pieces of at most this size, so that no channel holds the line for long. */
export const DATA_CHUNK_BYTES = 64 * 1024
/** More than any message of ours, a listing of a very large directory in pieces included. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024

const LENGTH_BYTES = 4
const HEAD_BYTES = 5
const kindNames = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([name, number]) => [number, name as FrameKind]),
)

/** The stream cannot be understood; the connection is of no more use. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame'
}

export function encodeFrame({ kind, channel, payload }: Frame): Uint8Array {
  const bytes = new Uint8Array(LENGTH_BYTES + HEAD_BYTES + payload.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, HEAD_BYTES + payload.length)
  view.setUint8(LENGTH_BYTES, frameKinds[kind])
  view.setUint32(LENGTH_BYTES + 1, channel)
  bytes.set(payload, LENGTH_BYTES + HEAD_BYTES)
  return bytes
}

/** Cuts a byte stream into frames. Throws `BrokenFrame` when it is not one of ours, and is of no more use then. */
export class FrameReader {
  #rest: Uint8Array = new Uint8Array()

  /** The frames that are complete with this chunk. Payloads may share its memory. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = []
    const bytes = this.#rest.length === 0 ? chunk : join(this.#rest, chunk)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = 0
    while (bytes.length - at >= LENGTH_BYTES) {
      const length = view.getUint32(at)
      if (length < HEAD_BYTES || length > HEAD_BYTES + MAX_PAYLOAD_BYTES) {
        throw new BrokenFrame(`a frame of ${length} bytes`)
      }
      const end = at + LENGTH_BYTES + length
      if (end > bytes.length) break
      const number = view.getUint8(at + LENGTH_BYTES)
      const kind = kindNames.get(number)
      if (kind === undefined) throw new BrokenFrame(`a frame of unknown kind ${number}`)
      const channel = view.getUint32(at + LENGTH_BYTES + 1)
      at = end
      frames.push({ kind, channel, payload: bytes.subarray(end - (length - HEAD_BYTES), end) })
    }
    this.#rest = bytes.subarray(at)
    return frames
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
