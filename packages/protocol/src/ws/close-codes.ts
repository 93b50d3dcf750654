/** How the server ends a socket, and what a client does then. A refused handshake is completed first, so that they arrive. */
export const closeCodes = {
  /** The client left, or was asked to. */
  normal: 1000,
  /** Malformed frames one after the other, or more at once than anybody needs: come back after a while. */
  policy: 1008,
  /** A message above `SVCD_WEBSOCKET_MSG_SIZE_MAX`. */
  tooLarge: 1009,
  /** The server stops or restarts: come back at once. */
  restart: 1012,
  /** The client took nothing for too long, or the server is draining: come back after a while. */
  tryLater: 1013,
  /** No usable sign-in, or it has ended: sign in anew. */
  signedOut: 4001,
  /** The token's time is over: refresh it once and come back. */
  expired: 4002,
  /** The account must choose a new password first. */
  passwordChange: 4004,
  /** There is no socket at this address. */
  noSuchPath: 4044,
} as const

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes]
