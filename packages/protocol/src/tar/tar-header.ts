import { joined, paxData, textBytes } from './pax-data.ts'
import { BLOCK_BYTES, checksumOf, FIELD, POSIX_MAGIC, paddingOf } from './tar-format.ts'

const TYPES = { file: '0', link: '2', directory: '5', extended: 'x' } as const

/** What the header of a member says. Names are bytes: on a disk they can be anything. */
export interface TarEntry {
  readonly kind: 'file' | 'link' | 'directory'
  /** Without the `/` that ends the name of a directory in an archive. */
  readonly name: Uint8Array
  /** Where a link leads. */
  readonly target?: Uint8Array
  readonly mode: number
  readonly size: number
  /** Epoch seconds. */
  readonly modifiedAt: number
}

/** The largest number that eleven octal digits can tell. */
const MAX_OCTAL = 8 ** 11 - 1
/** Never setuid, setgid or sticky: nothing gets a power by having been in an archive of ours. */
const PERMISSION_BITS = 0o777
/** The user of every workspace. */
const OWNER_ID = 1000
const OWNER_NAME = textBytes('svc')
const NOTHING = new Uint8Array()

/** The header of a member: ustar, with an extended one before it (POSIX pax) for what that cannot tell. */
export function tarHeader({ kind, name, target = NOTHING, mode, size, modifiedAt }: TarEntry): Uint8Array {
  const path = kind === 'directory' ? joined([name, textBytes('/')]) : name
  const plain = headerBlock({ type: kind, name: path, target, mode: mode & PERMISSION_BITS, size, modifiedAt })
  const records = {
    ...(fits(path, FIELD.name) ? {} : { path }),
    ...(fits(target, FIELD.linkTarget) ? {} : { linkpath: target }),
    ...(size <= MAX_OCTAL ? {} : { size: textBytes(String(size)) }),
  }
  return Object.keys(records).length === 0 ? plain : joined([extendedHeader(records), plain])
}

/** Zeros that fill up the last block of a content. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array(paddingOf(size))

/** What follows the last member. */
export const tarEnd = (): Uint8Array => new Uint8Array(2 * BLOCK_BYTES)

type Place = readonly [start: number, length: number]

/** Programs agree about plain characters only; what others mean is certain in an extended header. */
const fits = (text: Uint8Array, [, length]: Place): boolean =>
  text.length <= length && text.every((byte) => byte >= 0x20 && byte < 0x7f)

function extendedHeader(records: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const data = paxData(records)
  const about = { type: 'extended', name: textBytes('pax'), target: NOTHING, mode: 0o600, modifiedAt: 0 } as const
  return joined([headerBlock({ ...about, size: data.length }), data, tarPadding(data.length)])
}

interface Fields {
  readonly type: keyof typeof TYPES
  readonly name: Uint8Array
  readonly target: Uint8Array
  readonly mode: number
  readonly size: number
  readonly modifiedAt: number
}

function headerBlock({ type, name, target, mode, size, modifiedAt }: Fields): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES)
  put(block, FIELD.name, name)
  putNumber(block, FIELD.mode, mode)
  putNumber(block, FIELD.uid, OWNER_ID)
  putNumber(block, FIELD.gid, OWNER_ID)
  putNumber(block, FIELD.size, size)
  putNumber(block, FIELD.modifiedAt, modifiedAt)
  put(block, FIELD.type, textBytes(TYPES[type]))
  put(block, FIELD.linkTarget, target)
  put(block, FIELD.magic, textBytes(POSIX_MAGIC))
  put(block, FIELD.userName, OWNER_NAME)
  put(block, FIELD.groupName, OWNER_NAME)
  putNumber(block, FIELD.checksum, checksumOf(block))
  return block
}

/** Cut to its place; where that loses something, an extended header has said it in full. */
function put(block: Uint8Array, [start, length]: Place, value: Uint8Array): void {
  block.set(value.subarray(0, length), start)
}

/** Octal digits and a NUL behind them; the nearest number that can be told. */
function putNumber(block: Uint8Array, [start, length]: Place, value: number): void {
  const told = Math.min(Math.max(Math.floor(value), 0), MAX_OCTAL)
  put(block, [start, length - 1], textBytes(told.toString(8).padStart(length - 1, '0')))
}
