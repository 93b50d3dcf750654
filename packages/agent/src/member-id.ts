import { RequestError } from './request-error.ts'
import type { RequestFields } from './request-fields.ts'

/** The id of a member. Names of files are made of it, so it holds nothing that could lead elsewhere. */
export function memberId(fields: RequestFields): string {
  const userId = fields.word('user_id')
  if (!/^[\w-]{1,64}$/.test(userId)) throw new RequestError('bad_request', 'user_id is not one of ours')
  return userId
}
