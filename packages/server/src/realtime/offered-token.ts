const BEARER = 'bearer'

/**
 * The token in `Sec-WebSocket-Protocol: bearer, <token>`: the last entry that is not `bearer`. Nowhere else may it
 * stand: what is in an address is written into logs.
 */
export function offeredToken(header: string | undefined): string | undefined {
  const entries = header?.split(',').map((entry) => entry.trim())
  return entries?.findLast((entry) => entry !== '' && entry !== BEARER)
}

/** The subprotocol we answer with. Never the token: answers are seen by more than requests are. */
export const agreedProtocol = (offered: ReadonlySet<string>): string | false => (offered.has(BEARER) ? BEARER : false)
