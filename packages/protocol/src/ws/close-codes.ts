/** How the server ends a socket. A refused handshake is completed first, so that the code arrives. */
export const closeCodes = {
  normal: 1000,
  policy: 1008,
  tooLarge: 1009,
  restart: 1012,
  tryLater: 1013,
  signedOut: 4001,
  expired: 4002,
  passwordChange: 4004,
  noSuchPath: 4044,
} as const

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes]

/** And what a client does then. */
export const closeCodeMeanings: Readonly<Record<keyof typeof closeCodes, string>> = {
  normal: 'The client left',
  policy: 'Malformed frames one after the other: come back after a while',
  tooLarge: 'A message above `SVCD_WEBSOCKET_MSG_SIZE_MAX`',
  restart: 'The server stops or restarts: come back at once',
  tryLater: 'The client took nothing for too long, or the server is draining: come back after a while',
  signedOut: 'No usable sign-in, or it has ended: sign in anew',
  expired: 'The time of the token is over: refresh it once and come back',
  passwordChange: 'The account must choose a new password first',
  noSuchPath: 'There is no socket at this address',
}
