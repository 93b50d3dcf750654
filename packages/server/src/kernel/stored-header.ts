const DEFAULT_LENGTH = 512

/** A header as it is kept: text that a stranger chose, cut, and without what could confuse a terminal. */
export function storedHeader(text: string | undefined, maxLength = DEFAULT_LENGTH): string | null {
  return text === undefined ? null : text.replace(/\p{Cc}/gu, '').slice(0, maxLength)
}
