import { paxData } from './pax-records.ts'
import { BLOCK_BYTES, checksumOf, FIELD, POSIX_MAGIC, paddingOf } from './tar-format.ts'

/** Something to be put into an archive. */
export type TarMember =
  | { readonly kind: 'directory'; readonly name: string; readonly mode: number; readonly modifiedAt: number }
  | { readonly kind: 'link'; readonly name: string; readonly target: string; readonly modifiedAt: number }
  | {
      readonly kind: 'file'
      readonly name: string
      readonly mode: number
      /** Epoch seconds. */
      readonly modifiedAt: number
      readonly size: number
      /** Exactly `size` bytes. */
      open(): AsyncIterable<Uint8Array>
    }

/** The largest number that eleven octal digits can tell. */
const MAX_OCTAL = 8 ** 11 - 1
const PLAIN = /^[\x20-\x7e]*$/
/** The user of every workspace. */
const OWNER = 1000

/**
 * The bytes of an archive: ustar, with pax headers for what that cannot tell. Content is read as the archive is, so
 * that whoever stops reading stops the files from being read too.
 */
export async function* writeTar(members: AsyncIterable<TarMember>): AsyncGenerator<Uint8Array, void> {
  for await (const member of members) {
    yield headersOf(member)
    if (member.kind !== 'file' || member.size === 0) continue
    let written = 0
    for await (const chunk of member.open()) {
      written += chunk.length
      if (written > member.size) break
      yield chunk
    }
    if (written !== member.size) throw new Error(`a file has ${written} bytes, and ${member.size} were announced`)
    yield Buffer.alloc(paddingOf(member.size))
  }
  yield Buffer.alloc(2 * BLOCK_BYTES)
}

function headersOf(member: TarMember): Buffer {
  const name = member.kind === 'directory' ? `${member.name}/` : member.name
  const target = member.kind === 'link' ? member.target : ''
  const size = member.kind === 'file' ? member.size : 0
  const more = {
    ...(fits(name, FIELD.name[1]) ? {} : { path: name }),
    ...(fits(target, FIELD.linkTarget[1]) ? {} : { linkpath: target }),
    ...(size <= MAX_OCTAL ? {} : { size: String(size) }),
  }
  const plain = header({
    type: member.kind === 'directory' ? '5' : member.kind === 'link' ? '2' : '0',
    name,
    target,
    mode: member.kind === 'link' ? 0o777 : member.mode & 0o777,
    size: Math.min(size, MAX_OCTAL),
    modifiedAt: member.modifiedAt,
  })
  return Object.keys(more).length === 0 ? plain : Buffer.concat([...extendedHeader(more), plain])
}

const fits = (text: string, bytes: number): boolean => text.length <= bytes && PLAIN.test(text)

function extendedHeader(records: Readonly<Record<string, string>>): Buffer[] {
  const data = paxData(records)
  const head = header({ type: 'x', name: 'pax', target: '', mode: 0o600, size: data.length, modifiedAt: 0 })
  return [head, data, Buffer.alloc(paddingOf(data.length))]
}

interface Fields {
  readonly type: string
  readonly name: string
  readonly target: string
  readonly mode: number
  readonly size: number
  readonly modifiedAt: number
}

function header({ type, name, target, mode, size, modifiedAt }: Fields): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  text(block, FIELD.name, name)
  octal(block, FIELD.mode, mode)
  octal(block, FIELD.uid, OWNER)
  octal(block, FIELD.gid, OWNER)
  octal(block, FIELD.size, size)
  octal(block, FIELD.modifiedAt, Math.min(Math.max(Math.floor(modifiedAt), 0), MAX_OCTAL))
  text(block, FIELD.type, type)
  text(block, FIELD.linkTarget, target)
  text(block, FIELD.magic, POSIX_MAGIC)
  octal(block, FIELD.checksum, checksumOf(block))
  return block
}

/** Cut to its place; where that loses something, an extended header has said it in full. */
function text(block: Buffer, [start, length]: readonly [number, number], value: string): void {
  block.write(value, start, length, 'utf8')
}

/** Digits and a NUL behind them. */
function octal(block: Buffer, [start, length]: readonly [number, number], value: number): void {
  block.write(value.toString(8).padStart(length - 1, '0'), start, length - 1, 'latin1')
}
