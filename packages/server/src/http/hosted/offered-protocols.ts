const BEARER = 'bearer'

/** The token in `Sec-WebSocket-Protocol: bearer, <token>`, be it ours or an application's own. */
export function offeredToken(header: string | undefined): string | undefined {
  const [first, second] = entriesOf(header)
  return first === BEARER ? second : undefined
}

/** What is left for the application when the token is ours; undefined for nothing. */
export function withoutOfferedToken(header: string | undefined): string | undefined {
  return entriesOf(header).slice(2).join(', ') || undefined
}

/** The subprotocol we answer with in the place of an application that was offered none. */
export const AGREED = BEARER

const entriesOf = (header: string | undefined): string[] => header?.split(',').map((entry) => entry.trim()) ?? []
