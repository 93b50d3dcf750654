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

/** Gives memory for so many bytes. */
export type Room = (size: number) => Uint8Array

/** Throws `RangeError` for a payload that the other side would not take. */
export function encodeFrame({ kind, channel, payload }: Frame, room: Room = newBytes): Uint8Array {
  if (payload.length > MAX_PAYLOAD_BYTES) throw new RangeError(`a payload of ${payload.length} bytes`)
  const bytes = room(LENGTH_BYTES + HEAD_BYTES + payload.length)
  const view = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES + HEAD_BYTES)
  view.setUint32(0, HEAD_BYTES + payload.length)
  view.setUint8(LENGTH_BYTES, frameKinds[kind])
  view.setUint32(LENGTH_BYTES + 1, channel)
  bytes.set(payload, LENGTH_BYTES + HEAD_BYTES)
  return bytes
}

interface OpenFrame {
  readonly kind: FrameKind
  readonly channel: number
  leftBytes: number
}

/** Of a frame of bytes, so much is handed on before the rest is there. Less is not worth the work it makes. */
const MIN_PART_BYTES = 4096

/** Cuts a byte stream into frames. Throws `BrokenFrame` when it is not one of ours, and is of no more use then. */
export class FrameReader {
  /** A frame that has begun: room for as much of it as is known to come. Each byte is copied once, however it comes. */
  #begun: Uint8Array | undefined
  #filledBytes = 0
  /** A frame of bytes that is handed on as it comes. */
  #open: OpenFrame | undefined

  /**
   * The frames that are complete with this chunk. Payloads may share its memory. A large frame of bytes may come as
   * several: what is sent as bytes has no parts of its own.
   */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = []
    let rest = chunk
    while (rest.length > 0) {
      if (this.#open) {
        rest = this.#pass(this.#open, rest, frames)
        continue
      }
      if (this.#begun) rest = this.#fill(this.#begun, rest)
      const bytes = this.#begun ?? rest
      const available = this.#begun ? this.#filledBytes : rest.length
      const frameBytes = available < LENGTH_BYTES ? LENGTH_BYTES : frameBytesOf(bytes)
      if (available < frameBytes) {
        if (!this.#begun && this.#opens(rest, frameBytes)) {
          rest = rest.subarray(LENGTH_BYTES + HEAD_BYTES)
          continue
        }
        rest = this.#keep(bytes.subarray(0, available), frameBytes, rest)
        continue
      }
      frames.push(decodeFrame(bytes.subarray(0, frameBytes)))
      if (this.#begun) this.#begun = undefined
      else rest = rest.subarray(frameBytes)
    }
    return frames
  }

  /** Whether this is the beginning of a frame of bytes with enough of them to hand on. */
  #opens(bytes: Uint8Array, frameBytes: number): boolean {
    if (bytes.length < LENGTH_BYTES + HEAD_BYTES + MIN_PART_BYTES) return false
    const { kind, channel } = decodeFrame(bytes.subarray(0, LENGTH_BYTES + HEAD_BYTES))
    if (kind !== 'data' && kind !== 'errorData') return false
    this.#open = { kind, channel, leftBytes: frameBytes - LENGTH_BYTES - HEAD_BYTES }
    return true
  }

  #pass(open: OpenFrame, bytes: Uint8Array, frames: Frame[]): Uint8Array {
    const payload = bytes.subarray(0, open.leftBytes)
    frames.push({ kind: open.kind, channel: open.channel, payload })
    open.leftBytes -= payload.length
    if (open.leftBytes === 0) this.#open = undefined
    return bytes.subarray(payload.length)
  }

  #fill(begun: Uint8Array, from: Uint8Array): Uint8Array {
    const size = Math.min(begun.length - this.#filledBytes, from.length)
    begun.set(from.subarray(0, size), this.#filledBytes)
    this.#filledBytes += size
    return from.subarray(size)
  }

  /** Makes room for the whole frame; answers what of `rest` was not taken in. */
  #keep(bytes: Uint8Array, frameBytes: number, rest: Uint8Array): Uint8Array {
    const wasBegun = this.#begun !== undefined
    if (this.#begun?.length === frameBytes) return rest
    const room = new Uint8Array(frameBytes)
    room.set(bytes)
    this.#begun = room
    this.#filledBytes = bytes.length
    return wasBegun ? rest : rest.subarray(bytes.length)
  }
}

function newBytes(size: number): Uint8Array {
  return new Uint8Array(size)
}

/** Length of the frame that begins here, with its own length field. */
function frameBytesOf(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES).getUint32(0)
  if (length < HEAD_BYTES || length > HEAD_BYTES + MAX_PAYLOAD_BYTES)
    throw new BrokenFrame(`a frame of ${length} bytes`)
  return LENGTH_BYTES + length
}

function decodeFrame(bytes: Uint8Array): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES + HEAD_BYTES)
  const number = view.getUint8(LENGTH_BYTES)
  const kind = kindNames.get(number)
  if (kind === undefined) throw new BrokenFrame(`a frame of unknown kind ${number}`)
  return { kind, channel: view.getUint32(LENGTH_BYTES + 1), payload: bytes.subarray(LENGTH_BYTES + HEAD_BYTES) }
}
