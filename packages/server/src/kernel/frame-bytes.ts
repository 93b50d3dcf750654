import { FrameError } from './frame-error.ts'

/** The bytes that a frame carries as base64. Anything but its one proper spelling is refused, and so is too much. */
export function bytesFromBase64(text: string, { maxBytes }: { maxBytes: number }): Buffer {
  if ((text.length / 4) * 3 - paddingOf(text) > maxBytes) {
    throw new FrameError('too_large', `More than ${maxBytes} bytes at once`)
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new FrameError('invalid', 'The data is not base64')
  return bytes
}

/** As frames carry bytes. */
export const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')

function paddingOf(text: string): number {
  if (text.endsWith('==')) return 2
  return text.endsWith('=') ? 1 : 0
}
