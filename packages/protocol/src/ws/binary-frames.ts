/**
 * The binary messages of `/ws`, for clients with `bin`:
 *
 *     kind (1 byte) · channel (4, big endian) · offset (8, big endian) · payload
 *
 * `channel` says which terminal, command or agent connection. `offset` is the place of the first byte of the payload in
 * all bytes of that stream; 0 for what a client sends.
 */
export const binaryKinds = {
  terminalOutput: 1,
  terminalInput: 2,
  execStdout: 3,
  execStderr: 4,
  execStdin: 5,
  sshAgent: 6,
  terminalScreen: 7,
  terminalScreenPart: 8,
} as const

export type BinaryKind = keyof typeof binaryKinds

export const binaryKindMeanings: Readonly<Record<BinaryKind, string>> = {
  terminalOutput: 'Output of a terminal',
  terminalInput: 'Input for the terminal that is shown; for another one it is dropped',
  execStdout: 'Standard output of a command',
  execStderr: 'Standard error of a command',
  execStdin: 'Standard input for a command',
  sshAgent: 'Both ways: bytes of one connection to the client’s ssh agent',
  terminalScreen: 'Draws a terminal anew, scrollback included, or ends that; the offset is where the output goes on',
  terminalScreenPart: 'The beginning of a long screen, or more of it: nobody can go on from here',
}

export interface BinaryFrame {
  readonly kind: BinaryKind
  readonly channel: number
  readonly offset: number
  readonly payload: Uint8Array
}

const HEAD_BYTES = 13
const kindNames = new Map<number, BinaryKind>(
  Object.entries(binaryKinds).map(([name, number]) => [number, name as BinaryKind]),
)

/** `room` gives memory for so many bytes; new memory when it is absent. */
export function encodeBinary(
  { kind, channel, offset, payload }: BinaryFrame,
  room: (size: number) => Uint8Array<ArrayBuffer> = (size) => new Uint8Array(size),
): Uint8Array<ArrayBuffer> {
  const bytes = room(HEAD_BYTES + payload.length)
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES)
  view.setUint8(0, binaryKinds[kind])
  view.setUint32(1, channel)
  view.setBigUint64(5, BigInt(offset))
  bytes.set(payload, HEAD_BYTES)
  return bytes
}

/** Undefined for what is no such message. The payload shares the memory of `bytes`. */
export function decodeBinary(bytes: Uint8Array): BinaryFrame | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES)
  const kind = kindNames.get(view.getUint8(0))
  const offset = Number(view.getBigUint64(5))
  if (kind === undefined || !Number.isSafeInteger(offset)) return undefined
  return { kind, channel: view.getUint32(1), offset, payload: bytes.subarray(HEAD_BYTES) }
}
