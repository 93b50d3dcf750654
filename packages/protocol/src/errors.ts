/**
 * Every refusal the server can answer with, and what it means to a caller.
 * Codes are part of the contract: clients switch on them, people read the `detail` sentence beside them.
 */
export const errorCodes = {
  bad_request: 'The request is understood and breaks a rule; `detail` says which',
  password_rejected: 'The new password breaks the password policy; `detail` says how',
  link_not_valid: 'The link was used, has expired, or was replaced by a newer one',
  invalid_request:
    'The body is not JSON, or a field is missing, of the wrong type or out of bounds; `detail` lists each one',
  not_authenticated: 'No usable sign-in came with the request',
  invalid_credentials: 'No such account, or not its password',
  permission_denied: 'This caller may not do this',
  not_offered: 'The operator has turned this off',
  account_disabled: 'The account is disabled; an administrator can enable it',
  account_not_verified: 'The email address of the account is not verified yet',
  password_expired: 'The password is too old: change it with `POST /auth/change-expired-password`',
  password_change_required: 'The account must choose a new password before anything else',
  step_up_required: 'The caller must confirm their password first',
  not_found: 'Nothing is at this address',
  method_not_allowed: 'The address exists and does not answer this method; see the `Allow` header',
  conflict: 'The request does not fit the present state',
  payload_too_large: 'The request body is larger than the server takes',
  unsupported_media_type: 'The request body is of a type this address does not take',
  rate_limited: 'Too many requests; `Retry-After` says how many seconds to wait',
  account_locked: 'Too many wrong passwords; `Retry-After` says how many seconds to wait',
  internal_error: 'The server failed; the request id finds the reason in its log',
  mail_failed: 'The mail could not be handed over, and nothing was changed',
  unavailable: 'The server cannot do this at the moment; a later try may succeed',
} as const

export type ErrorCode = keyof typeof errorCodes
