import type { TokenReply } from '@svc/protocol/auth'
import type { Account } from '../accounts/account.ts'

/** What every route that signs somebody in answers. */
export interface SignedIn {
  readonly token: string
  readonly account: Pick<Account, 'id' | 'email' | 'mustChangePassword'>
}

export function tokenReply({ token, account }: SignedIn): TokenReply {
  return { access_token: token, token_type: 'bearer', must_change_password: account.mustChangePassword }
}
