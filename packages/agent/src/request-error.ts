import type { ChannelError } from '@svc/protocol/agent/channel-error'

/** Why a request cannot be done. `message` is shown to the person who asked. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: ChannelError['code']

  constructor(code: ChannelError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** What the system says, in our words. `%` is where the path goes. */
const SENTENCES: Readonly<Record<string, readonly [ChannelError['code'], string]>> = {
  ENOENT: ['not_found', 'There is no % in this workspace'],
  ENOTDIR: ['not_directory', 'A part of % is not a directory'],
  EISDIR: ['is_directory', '% is a directory'],
  EEXIST: ['exists', 'There is something at % already'],
  ENOTEMPTY: ['exists', 'There is something in % already'],
  EACCES: ['not_permitted', 'The user of this workspace may not do that with %'],
  EPERM: ['not_permitted', 'The user of this workspace may not do that with %'],
  EROFS: ['not_permitted', '% can only be read'],
  EBUSY: ['not_permitted', '% is in use by the system'],
  ETXTBSY: ['not_permitted', '% is a program that is running'],
  ENXIO: ['bad_request', '% is not a file that can be opened'], // a socket
  ELOOP: ['bad_request', 'The links in % lead in a circle'],
  ENAMETOOLONG: ['bad_request', 'A name in % is too long'],
  EINVAL: ['bad_request', 'That cannot be done with %'],
  EXDEV: ['failed', '% would have to move to another disk'],
  ENOSPC: ['failed', 'There is no space left for %'],
  EDQUOT: ['failed', 'There is no space left for %'],
  EFBIG: ['failed', '% would be too large'],
  EMFILE: ['too_many', 'Too many files are open at once'],
  ENFILE: ['too_many', 'Too many files are open at once'],
  EAGAIN: ['too_many', 'Too much is running at once'],
  ENOMEM: ['failed', 'There is no memory left'],
}

/** The error to close a channel with. Nothing of a fault of ours is told but that it was one. */
export function toChannelError(error: unknown): ChannelError {
  if (error instanceof RequestError) return { code: error.code, message: error.message }
  const [code, sentence] = SENTENCES[errnoOf(error) ?? ''] ?? ['failed', 'It failed for a reason that is not known']
  return { code, message: sentence.replace('%', pathOf(error) ?? 'it') }
}

/** The name that the system has for the error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}

function pathOf(error: unknown): string | undefined {
  const path = error instanceof Error ? Reflect.get(error, 'path') : undefined
  return typeof path === 'string' ? path : undefined
}
