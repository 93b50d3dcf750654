/** Longer than any terminal answers at once. */
const MAX_REPLIES_LENGTH = 4096

const ESC = '\\x1b'
const STRING_END = `(?:${ESC}\\\\|\\x07)`
const COLOUR = 'rgba?:[0-9a-fA-F]{1,4}(?:/[0-9a-fA-F]{1,4}){2,3}'

const REPLIES = [
  // Device attributes: primary, secondary, tertiary.
  `${ESC}\\[\\?\\d{1,5}(?:;\\d{1,5}){0,31}c`,
  `${ESC}\\[>\\d{1,5}(?:;\\d{1,9}){0,3}c`,
  `${ESC}P!\\|[0-9a-fA-F]{0,32}${ESC}\\\\`,
  // Where the cursor is, with or without the page.
  `${ESC}\\[\\??\\d{1,5};\\d{1,5}(?:;\\d{1,5})?R`,
  // Colours: of the palette, of text, background and cursor.
  `${ESC}\\]4(?:;\\d{1,3};${COLOUR}){1,16}${STRING_END}`,
  `${ESC}\\]1[012];${COLOUR}${STRING_END}`,
  // XTVERSION. A shell that did not ask takes the text for typed, so it can hold a name and a version and no more.
  `${ESC}P>\\|[A-Za-z0-9 ._()+-]{1,64}${ESC}\\\\`,
  // XTGETTCAP: names and values are hexadecimal.
  `${ESC}P[01]\\+r[0-9a-fA-F=;]{0,1024}${ESC}\\\\`,
]

const ONLY_REPLIES = new RegExp(`^(?:${REPLIES.join('|')})+$`)

/**
 * Whether this is nothing but whole answers that a terminal gives by itself when a program asks it something. A viewer
 * who may not type still has to send those, or the program waits for them. Everything a person could type, click or
 * paste is not, and neither is the content of a clipboard (OSC 52).
 */
export function isTerminalReplies(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_REPLIES_LENGTH) return false
  return ONLY_REPLIES.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
}
