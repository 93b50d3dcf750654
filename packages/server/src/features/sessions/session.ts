/** One sign-in on one device. Lives as long as its row; its tokens come and go. Moments are epoch seconds. */
export interface Session {
  readonly id: string
  readonly userId: string
  /** Of the token that is good now. */
  readonly jti: string
  /** Of the token before the last refresh. */
  readonly previousJti: string | null
  readonly refreshedAt: number | null
  readonly createdAt: number
  readonly issuedAt: number
  readonly expiresAt: number
  readonly lastSeenAt: number
  readonly sourceIp: string | null
  readonly userAgent: string | null
}

/** How somebody signed in, for the audit trail. */
export type SignInWay =
  | 'password'
  | 'invite'
  | 'email-verify'
  | 'password-reset'
  | 'expired-password'
  | 'local'
  | 'register'

/** A refresh can be repeated for so long, because its answer may have been lost on the way. */
const REPEAT_SECONDS = 60

/** Whether `jti` is the token that the last refresh replaced, recently enough to be given the same answer again. */
export function isRepeatedRefresh(session: Session, jti: string, nowSeconds: number): boolean {
  return (
    session.previousJti === jti && session.refreshedAt !== null && nowSeconds - session.refreshedAt <= REPEAT_SECONDS
  )
}
