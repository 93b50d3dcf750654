import { BrokenFrame } from './frames.ts'

// Every platform of ours has these two; neither the browser's types nor Node's are at hand here.
declare const TextEncoder: new () => { encode(text: string): Uint8Array }
declare const TextDecoder: new (label: string, options: { fatal: boolean }) => { decode(bytes: Uint8Array): string }

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

export const encodeJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))

/** Throws `BrokenFrame` when the bytes are not JSON. */
export function decodeJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    throw new BrokenFrame('a message that is not JSON', { cause })
  }
}
