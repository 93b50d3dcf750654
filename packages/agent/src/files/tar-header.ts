const BLOCK_BYTES = 512
const NAME_BYTES = 100
/** Largest size that eleven octal digits hold. */
const MAX_PLAIN_SIZE = 0o77777777777
const USER = 'svc'

const TYPES = { file: '0', link: '2', directory: '5', extended: 'x' } as const

export interface TarEntry {
  readonly type: keyof typeof TYPES
  /** As bytes: a name can be anything. */
  readonly name: Buffer
  /** Where a link leads. */
  readonly target?: Buffer
  readonly mode: number
  readonly size: number
  /** Epoch seconds. */
  readonly modifiedAt: number
}

/** The header of an entry, with an extended one before it (POSIX pax) when something does not fit. */
export function tarHeader(entry: TarEntry): Buffer {
  const { name, target, size } = entry
  const records = [
    ...(name.length > NAME_BYTES ? [record('path', name)] : []),
    ...(target && target.length > NAME_BYTES ? [record('linkpath', target)] : []),
    ...(size > MAX_PLAIN_SIZE ? [record('size', Buffer.from(String(size)))] : []),
  ]
  if (records.length === 0) return plainHeader(entry)
  const body = Buffer.concat(records)
  const about = { type: 'extended', name: Buffer.from('pax'), mode: 0o644, size: body.length, modifiedAt: 0 } as const
  return Buffer.concat([plainHeader(about), body, padding(body.length), plainHeader(entry)])
}

/** Zeros that fill up the last block of a content. */
export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES)
}

export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK_BYTES)

function plainHeader({ type, name, target, mode, size, modifiedAt }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  name.copy(block, 0, 0, NAME_BYTES)
  block.write(octal(mode & 0o7777, 7), 100)
  block.write(octal(1000, 7), 108)
  block.write(octal(1000, 7), 116)
  block.write(octal(Math.min(size, MAX_PLAIN_SIZE), 11), 124)
  block.write(octal(Math.min(Math.max(0, Math.floor(modifiedAt)), MAX_PLAIN_SIZE), 11), 136)
  block.write(' '.repeat(8), 148)
  block.write(TYPES[type], 156)
  target?.copy(block, 157, 0, NAME_BYTES)
  block.write('ustar\x0000', 257)
  block.write(USER, 265)
  block.write(USER, 297)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function record(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')])
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length++
  return Buffer.concat([Buffer.from(String(length)), rest])
}
