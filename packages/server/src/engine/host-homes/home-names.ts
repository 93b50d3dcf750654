import { HomeNameRefused } from '../home-storage.ts'
import { MAX_DEPTH } from './directory-handle.ts'

/** What Linux takes for one part of a name, and for the target of a link. */
const MAX_PART_BYTES = 255
const MAX_TARGET_BYTES = 4095

/** The parts of a name in a home. Throws `HomeNameRefused` for one that is no plain relative name. */
export function partsOf(name: string): string[] {
  const refuse = (why: string): never => {
    throw new HomeNameRefused(`${JSON.stringify(name.slice(0, 200))} cannot be a name in a home: ${why}`)
  }
  if (name === '') refuse('it is empty')
  if (name.includes('\0')) refuse('it holds a NUL byte')
  if (name.startsWith('/')) refuse('it is absolute')
  const parts = name.split('/')
  if (parts.length > MAX_DEPTH) refuse(`it has more than ${MAX_DEPTH} parts`)
  for (const part of parts) {
    if (part === '..') refuse('it leaves the home')
    if (part === '' || part === '.') refuse('it has an empty part')
    if (Buffer.byteLength(part) > MAX_PART_BYTES) refuse(`a part of it is longer than ${MAX_PART_BYTES} bytes`)
  }
  return parts
}

/** A link may point anywhere: nothing follows it here. It only has to be one that the system can make. */
export function checkTarget(name: string, target: string): void {
  if (target !== '' && !target.includes('\0') && Buffer.byteLength(target) <= MAX_TARGET_BYTES) return
  throw new HomeNameRefused(`${name}: a link cannot have this target`)
}
