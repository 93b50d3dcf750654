import { AppError } from '../../kernel/app-error.ts'

const LONGEST = 120
const OUTER_SPACE = /^\p{White_Space}+|\p{White_Space}+$/gu
/** Control and format characters, line and paragraph separators, and half a surrogate pair. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

/** One line of printable characters; null for that of the server. */
export function readBanner(given: string | null): string | null {
  const banner = (given ?? '').replace(OUTER_SPACE, '')
  if (banner === '') return null
  if ([...banner].length > LONGEST) {
    throw new AppError('bad_request', `classification_banner can have at most ${LONGEST} characters`)
  }
  if (UNPRINTABLE.test(banner)) {
    throw new AppError('bad_request', 'classification_banner must be one line of printable characters')
  }
  return banner
}
