import { checksumOf, FIELD, POSIX_MAGIC } from '@svc/protocol/tar/tar-format'
import { AppError } from '../../../kernel/app-error.ts'

/** One header as it stands in an archive; extended headers before it may say otherwise. */
export interface TarHeader {
  /** The type's character; a NUL is the old way to write `0`. */
  readonly type: string
  readonly name: Buffer
  readonly linkTarget: Buffer
  readonly mode: number
  readonly size: number
}

const BASE_256 = 0x80
const OCTAL = /^ *([0-7]*)[ \0]*$/

/** Reads a header block. Undefined for a block of zeros, which marks the end. */
export function parseHeader(block: Buffer): TarHeader | undefined {
  if (block[0] === 0 && isZeros(block)) return undefined
  if (numberIn(block, FIELD.checksum) !== checksumOf(block)) {
    throw damaged('a header does not fit its checksum')
  }
  const type = field(block, FIELD.type).toString('latin1')
  return {
    type: type === '\0' ? '0' : type,
    name: nameIn(block),
    linkTarget: textIn(block, FIELD.linkTarget),
    mode: numberIn(block, FIELD.mode),
    size: numberIn(block, FIELD.size),
  }
}

/** Said of an archive that cannot be what its maker wrote. */
export const damaged = (what: string): AppError => new AppError('archive_invalid', `The archive is damaged: ${what}`)

export const isZeros = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)

type Field = readonly [start: number, length: number]

const field = (block: Buffer, [start, length]: Field): Buffer => block.subarray(start, start + length)

/** A copy: the block belongs to a larger buffer, which a name should not keep alive. */
function textIn(block: Buffer, place: Field): Buffer {
  const bytes = field(block, place)
  const end = bytes.indexOf(0)
  return Buffer.from(end === -1 ? bytes : bytes.subarray(0, end))
}

function nameIn(block: Buffer): Buffer {
  const name = textIn(block, FIELD.name)
  if (field(block, FIELD.magic).toString('latin1') !== POSIX_MAGIC) return name
  const prefix = textIn(block, FIELD.prefix)
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name])
}

/** Octal digits, or for what does not fit into those the bytes of a large number. */
function numberIn(block: Buffer, place: Field): number {
  const bytes = field(block, place)
  const first = bytes[0] ?? 0
  if (first >= BASE_256) return base256(bytes)
  const digits = OCTAL.exec(bytes.toString('latin1'))?.[1]
  if (digits === undefined) throw damaged('a header holds no number where one belongs')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function base256(bytes: Buffer): number {
  let value = (bytes[0] ?? 0) & 0x7f
  for (const byte of bytes.subarray(1)) value = value * 256 + byte
  if (!Number.isSafeInteger(value)) throw damaged('a number in a header is out of bounds')
  return value
}
