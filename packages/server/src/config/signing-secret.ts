import { InvalidValue } from './invalid-value.ts'

/** 256 bits, the output of the hash that HS256 and the audit tags use, is 32 bytes. */
const MIN_LENGTH = 32

/** Parts of the example secrets that manuals and sample files carry. */
const PLACEHOLDERS = ['changeme', 'changethis', 'replaceme', 'placeholder', 'yoursecret', 'supersecret', 'insecure']

/** Fewer different characters than this is a key held down, not a secret. */
const MIN_DIFFERENT_CHARACTERS = 8

export function parseKey(text: string): string {
  if (text.length < MIN_LENGTH) throw new InvalidValue(`must be at least ${MIN_LENGTH} characters long`)
  return text
}

export function parseSigningSecret(text: string): string {
  parseKey(text)
  const plain = text.toLowerCase().replace(/[^a-z]/g, '')
  const guessable = PLACEHOLDERS.some((word) => plain.includes(word)) || new Set(text).size < MIN_DIFFERENT_CHARACTERS
  if (guessable) throw new InvalidValue('must not be a well-known or guessable text: use 32 random bytes')
  return text
}
