import { z } from 'zod'

/** A session token, and whether its owner must choose a new password before anything else. */
export const TokenReply = z.object({
  access_token: z.string().meta({ description: 'Send it as `Authorization: Bearer …`. As secret as a password' }),
  token_type: z.literal('bearer'),
  must_change_password: z.boolean(),
})
export type TokenReply = z.infer<typeof TokenReply>

export const LoginRequest = z.object({
  identifier: z.string().meta({ description: 'An email address, or a handle when there is no `@` in it' }),
  password: z.string(),
})
export type LoginRequest = z.infer<typeof LoginRequest>

export const LocalReply = TokenReply.extend({ email: z.string() })

export const LogoutReply = z.object({
  status: z.literal('ok'),
  oidc_logout_url: z.string().optional().meta({ description: 'Where to sign out of the identity provider as well' }),
})

export const RegisterRequest = z.object({ email: z.string(), password: z.string() })
export type RegisterRequest = z.infer<typeof RegisterRequest>

export const RegisterReply = z.union([
  z.object({ status: z.literal('pending_verification'), email: z.string() }),
  TokenReply.extend({ user_id: z.string(), email: z.string() }).meta({ description: 'In test mode only' }),
])
export type RegisterReply = z.infer<typeof RegisterReply>

export const VerifyRequest = z.object({ token: z.string().meta({ description: 'From the link in the mail' }) })
export const VerifyReply = TokenReply.extend({ status: z.literal('verified') })

export const ResendVerificationRequest = z.object({ email: z.string(), password: z.string() })
export type ResendVerificationRequest = z.infer<typeof ResendVerificationRequest>

export const ForgotPasswordRequest = z.object({ email: z.string() })

export const SentReply = z.object({ status: z.literal('sent') })

export const ResetPasswordRequest = z.object({
  token: z.string().meta({ description: 'From the link in the mail' }),
  password: z.string().meta({ description: 'The new one' }),
})
export type ResetPasswordRequest = z.infer<typeof ResetPasswordRequest>
export const ResetPasswordReply = TokenReply.extend({ status: z.literal('reset') })

export const ChangePasswordRequest = z.object({ current_password: z.string(), new_password: z.string() })
export type ChangePasswordRequest = z.infer<typeof ChangePasswordRequest>

export const ChangeExpiredPasswordRequest = ChangePasswordRequest.extend({ identifier: z.string() })
export type ChangeExpiredPasswordRequest = z.infer<typeof ChangeExpiredPasswordRequest>

export const ChangeEmailRequest = z.object({
  email: z.string().meta({ description: 'The new one' }),
  password: z.string().meta({ description: 'The current one' }),
})
export type ChangeEmailRequest = z.infer<typeof ChangeEmailRequest>

export const ChangeHandleRequest = z.object({
  handle: z.string().meta({ description: 'The new one' }),
  password: z.string().meta({ description: 'The current one' }),
})
export type ChangeHandleRequest = z.infer<typeof ChangeHandleRequest>

export const UpdatedReply = z.object({ status: z.literal('updated') })
export const ChangeEmailReply = UpdatedReply.extend({ needs_verification: z.literal(true) })
export const ChangeHandleReply = UpdatedReply.extend({ handle: z.string() })

export const Me = z.object({ id: z.string(), email: z.string(), handle: z.string() })
export type Me = z.infer<typeof Me>
