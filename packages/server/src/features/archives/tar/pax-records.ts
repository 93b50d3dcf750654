import { damaged } from './tar-header.ts'

const SPACE = 0x20
const EQUALS = 0x3d
const NEWLINE = 0x0a
/** No record is longer than the header that holds it, and that is bounded. */
const MAX_LENGTH_DIGITS = 8

/** What of an extended header matters here: the rest is about owners and times. */
export interface PaxRecords {
  readonly path?: Buffer
  readonly linkpath?: Buffer
  readonly size?: number
}

/** Reads `length key=value\n` records. Later ones win, as the format has it. */
export function parsePax(data: Buffer): PaxRecords {
  const records: { path?: Buffer; linkpath?: Buffer; size?: number } = {}
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(SPACE, at)
    const digits = space === -1 || space - at > MAX_LENGTH_DIGITS ? '' : data.toString('latin1', at, space)
    const end = /^[1-9]\d*$/.test(digits) ? at + Number(digits) : 0
    const equals = data.indexOf(EQUALS, space)
    if (end <= space + 1 || end > data.length || data[end - 1] !== NEWLINE || equals === -1 || equals >= end) {
      throw damaged('an extended header cannot be read')
    }
    const key = data.toString('latin1', space + 1, equals)
    const value = Buffer.from(data.subarray(equals + 1, end - 1))
    if (key.startsWith('GNU.sparse.')) throw damaged('it holds a sparse file, which cannot be taken')
    if (key === 'path') records.path = value
    else if (key === 'linkpath') records.linkpath = value
    else if (key === 'size') records.size = sizeIn(value.toString('latin1'))
    at = end
  }
  return records
}

function sizeIn(text: string): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(size)) throw damaged('an extended header holds no size where one belongs')
  return size
}
