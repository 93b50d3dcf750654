/**
 * What could start a new line, drive a terminal or reorder what a reader sees: C0, DEL and C1 controls,
 * the two Unicode line separators, and the bidirectional controls.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
/** Printable ASCII needs no closer look, and nearly every line is just that. */
const UNUSUAL = /[^ -~]/
const EVERY_UNSAFE = new RegExp(UNSAFE, 'gu')

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Escapes as JSON does, so the same function serves a text line and the inside of finished JSON.
 * Every unsafe character lies in the basic plane, so four digits are always enough.
 */
export function escapeUnsafe(text: string): string {
  if (!UNUSUAL.test(text) || !UNSAFE.test(text)) return text
  return text.replace(
    EVERY_UNSAFE,
    (char) => SHORT_FORMS[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
