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
  workspace_not_found: 'There is no such workspace',
  not_found: 'Nothing is at this address',
  method_not_allowed: 'The address exists and does not answer this method; see the `Allow` header',
  conflict: 'The request does not fit the present state',
  container_not_running: 'The workspace is stopped: start it first',
  file_permission_denied: 'The user of the workspace may not do this with the file',
  file_not_text: 'The file is not text in UTF-8: download it instead',
  archive_invalid: 'The archive is damaged, of another server, or holds what an archive may not; `detail` says which',
  archive_too_large: 'The archive is larger than this server takes, packed or unpacked; `detail` says which',
  image_not_usable: 'A workspace cannot run in this image; `detail` says why',
  payload_too_large: 'The request body is larger than the server takes',
  unsupported_media_type: 'The request body is of a type this address does not take',
  rate_limited: 'Too many requests; `Retry-After` says how many seconds to wait',
  account_locked: 'Too many wrong passwords; `Retry-After` says how many seconds to wait',
  volume_quota_reached: 'The workspace has all the volumes it may have: delete one first',
  internal_error: 'The server failed; the request id finds the reason in its log',
  app_not_answering: 'The workspace runs, and no application in it answers on this port',
  mail_failed: 'The mail could not be handed over, and nothing was changed',
  capacity_reached: 'The machine has too little memory left for this workspace; nothing was started',
  running_limit_reached: 'The owner has as many workspaces running as the operator allows: stop one first',
  draining: 'The server is stopping or restarting, and starts no workspace until that is over',
  audit_unavailable: 'The audit trail cannot be written, so the operator wants nothing to be started or stopped',
  start_failed: 'The container could not be started; `detail` says why',
  unavailable: 'The server cannot do this at the moment; a later try may succeed',
} as const

export type ErrorCode = keyof typeof errorCodes
