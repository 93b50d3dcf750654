import { gzipSync } from 'node:zlib'
import { paxData } from '@svc/protocol/tar/pax-data'
import { BLOCK_BYTES, checksumOf, FIELD, paddingOf } from '@svc/protocol/tar/tar-format'

/** The end mark of an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES)

interface RawFields {
  readonly type?: string
  readonly name?: string | Buffer
  readonly target?: string
  readonly size?: string
  readonly mode?: string
}

/** A member with fields of the test's choosing, fitting or not; its checksum is right. */
export function rawMember(fields: RawFields, content = ''): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  Buffer.from(fields.name ?? 'a').copy(block, FIELD.name[0], 0, FIELD.name[1])
  block.write(fields.mode ?? '0000644', FIELD.mode[0])
  block.write(fields.size ?? Buffer.byteLength(content).toString(8).padStart(11, '0'), FIELD.size[0], 'latin1')
  block.write(fields.type ?? '0', FIELD.type[0])
  block.write(fields.target ?? '', FIELD.linkTarget[0], FIELD.linkTarget[1])
  block.write('ustar  \0', FIELD.magic[0])
  writeChecksum(block)
  return Buffer.concat([block, Buffer.from(content), Buffer.alloc(paddingOf(Buffer.byteLength(content)))])
}

export function writeChecksum(block: Buffer): void {
  block.write(checksumOf(block).toString(8).padStart(7, '0'), FIELD.checksum[0])
}

/** An extended header for the member behind it, or with type `g` for all that follow. */
export function rawPax(records: Record<string, string>, type = 'x'): Buffer {
  const data = paxData(Object.fromEntries(Object.entries(records).map(([key, value]) => [key, Buffer.from(value)])))
  return rawMember({ type }, Buffer.from(data).toString())
}

/** Members, the end mark, and the packing around both. */
export const packed = (...members: readonly Buffer[]): Buffer => gzipSync(Buffer.concat([...members, TAR_END]))
