import { BLOCK_BYTES, paddingOf } from '@svc/protocol/tar/tar-format'
import { AppError } from '../../../kernel/app-error.ts'
import { ByteReader } from './byte-reader.ts'
import { type PaxRecords, parsePax } from './pax-records.ts'
import { damaged, isZeros, parseHeader, type TarHeader } from './tar-header.ts'

/** Far more than a name and a link of the longest kind take; what is larger is there to fill memory. */
const MAX_EXTENDED_BYTES = 1024 * 1024

/** Tells what an archive has cost so far. Throws when that is too much. */
export interface ReadBudget {
  /** One more header. */
  entry(): void
  /** So many bytes that are content, or describe it. */
  bytes(count: number): void
}

/** A member of an archive. Names are as they stand there: see `member-name.ts` before using one. */
export interface TarEntry {
  readonly kind: 'file' | 'directory' | 'link' | 'hard link'
  readonly name: string
  /** Empty unless it is a link. */
  readonly linkTarget: string
  /** Permissions alone: nobody is given another's rights by an archive. */
  readonly mode: number
  readonly size: number
  /** Can be read once, before the next entry is asked for; what is not read is skipped. */
  readonly content: AsyncIterable<Uint8Array>
}

const KINDS = new Map<string, TarEntry['kind']>([
  ['0', 'file'],
  ['7', 'file'], // "contiguous", which means nothing anywhere
  ['1', 'hard link'],
  ['2', 'link'],
  ['5', 'directory'],
])

/** What an archive is refused for, by the type of a member. */
const REFUSED = new Map([
  ['3', 'a device'],
  ['4', 'a device'],
  ['6', 'a named pipe'],
  ['S', 'a sparse file'],
])

/** What the extended headers before a member say of it. */
interface Extension {
  readonly longName?: Buffer
  readonly longLinkTarget?: Buffer
  readonly pax?: PaxRecords
}

/**
 * Reads an archive to its end, one member after the other, holding one chunk of it in memory. Knows ustar, pax and the
 * long names of GNU. Whatever is not plainly in order is refused with a sentence: an archive comes from anywhere.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>, budget: ReadBudget): AsyncGenerator<TarEntry, void> {
  const reader = new ByteReader(source)
  let global: PaxRecords = {}
  let extension: Extension = {}
  try {
    for (;;) {
      const block = await reader.exactly(BLOCK_BYTES)
      if (block.length < BLOCK_BYTES) throw damaged('it ends before its end mark')
      const header = parseHeader(block)
      if (!header) break
      budget.entry()
      if (header.type === 'g') global = { ...global, ...parsePax(await extended(reader, header, budget)) }
      else if (header.type === 'x') extension = { ...extension, pax: parsePax(await extended(reader, header, budget)) }
      else if (header.type === 'L') extension = { ...extension, longName: await longText(reader, header, budget) }
      else if (header.type === 'K') extension = { ...extension, longLinkTarget: await longText(reader, header, budget) }
      else {
        yield* member(reader, described(header, extension, global), budget)
        extension = {}
      }
    }
    await requireNothingMore(reader, budget)
  } finally {
    await reader.close()
  }
}

/** Gives out one entry, then goes on to the header behind its content. */
async function* member(
  reader: ByteReader,
  entry: Omit<TarEntry, 'content'>,
  budget: ReadBudget,
): AsyncGenerator<TarEntry, void> {
  budget.bytes(entry.size)
  let left = entry.size
  async function* content(): AsyncGenerator<Uint8Array> {
    while (left > 0) {
      const part = await reader.some(left)
      if (!part) throw damaged('it ends in the middle of a file')
      left -= part.length
      yield part
    }
  }
  yield { ...entry, content: content() }
  const rest = left + paddingOf(entry.size)
  left = 0
  if ((await reader.skip(rest)) < rest) throw damaged('it ends in the middle of a file')
}

function described(header: TarHeader, extension: Extension, global: PaxRecords): Omit<TarEntry, 'content'> {
  const name = textOf(extension.pax?.path ?? extension.longName ?? global.path ?? header.name)
  const kind = KINDS.get(header.type)
  if (!kind) {
    throw new AppError('archive_invalid', `The archive holds ${REFUSED.get(header.type) ?? 'something unknown'}`)
  }
  const size = extension.pax?.size ?? global.size ?? header.size
  if (kind !== 'file' && size !== 0) throw damaged('something that is no file has content')
  const isOldDirectory = kind === 'file' && name.endsWith('/')
  if (isOldDirectory && size !== 0) throw damaged('a directory has content')
  return {
    kind: isOldDirectory ? 'directory' : kind,
    name,
    linkTarget: textOf(extension.pax?.linkpath ?? extension.longLinkTarget ?? global.linkpath ?? header.linkTarget),
    mode: header.mode & 0o777,
    size,
  }
}

async function extended(reader: ByteReader, { size }: TarHeader, budget: ReadBudget): Promise<Buffer> {
  if (size > MAX_EXTENDED_BYTES) throw damaged('an extended header is too long')
  budget.bytes(size)
  const data = await reader.exactly(size)
  if (data.length < size || (await reader.skip(paddingOf(size))) < paddingOf(size)) {
    throw damaged('it ends in the middle of a header')
  }
  return data
}

async function longText(reader: ByteReader, header: TarHeader, budget: ReadBudget): Promise<Buffer> {
  const data = await extended(reader, header, budget)
  const end = data.indexOf(0)
  return Buffer.from(end === -1 ? data : data.subarray(0, end))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new AppError('archive_invalid', 'The archive holds a name that is not UTF-8')
  }
}

/** Reads to the end, so that the checksum of the packing is compared; only filling may follow the end mark. */
async function requireNothingMore(reader: ByteReader, budget: ReadBudget): Promise<void> {
  for (let part = await reader.some(Infinity); part; part = await reader.some(Infinity)) {
    budget.bytes(part.length)
    if (!isZeros(part)) throw damaged('something follows its end mark')
  }
}
