/** Why a channel failed. */
export const channelErrorCodes = [
  'bad_request',
  'not_found',
  'exists',
  'not_permitted',
  'is_directory',
  'not_directory',
  'too_many',
  'failed',
] as const

/** `message` may be shown to the person who asked. */
export interface ChannelError {
  readonly code: (typeof channelErrorCodes)[number]
  readonly message: string
}
