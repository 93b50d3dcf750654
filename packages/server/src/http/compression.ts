import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Below this, compressing costs more than it saves. */
const WORTH_IT_FROM_LENGTH = 1024
/** Made anew for each answer, so speed counts; files of the UI are packed once, at build time. */
const BROTLI_QUALITY = 4

const packers = {
  br: promisify((text: string, done: (error: Error | null, packed: Buffer) => void) =>
    brotliCompress(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }, done),
  ),
  gzip: promisify((text: string, done: (error: Error | null, packed: Buffer) => void) => gzip(text, done)),
}

export type Encoding = keyof typeof packers

/** How to pack a text for this client; undefined to send it as it is. */
export function encodingFor(text: string, acceptEncoding: string | undefined): Encoding | undefined {
  if (text.length < WORTH_IT_FROM_LENGTH || !acceptEncoding) return undefined
  const accepted = new Set<string>()
  for (const entry of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    if (!parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) accepted.add(name)
  }
  return accepted.has('br') ? 'br' : accepted.has('gzip') ? 'gzip' : undefined
}

/** In the thread pool, never on the event loop. */
export function pack(text: string, encoding: Encoding): Promise<Buffer> {
  return packers[encoding](text)
}
