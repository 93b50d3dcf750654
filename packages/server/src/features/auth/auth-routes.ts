import * as shapes from '@svc/protocol/auth'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { Reply, type Route, route } from '../../kernel/route.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { ActivityStamps } from '../sessions/activity-stamps.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { OwnAccount } from './own-account.ts'
import type { Recovery } from './recovery.ts'
import type { Registration } from './registration.ts'
import type { SignIn } from './sign-in.ts'
import { tokenReply } from './signed-in.ts'

interface AuthParts {
  readonly signIn: SignIn
  readonly registration: Registration
  readonly recovery: Recovery
  readonly own: OwnAccount
  readonly sessions: Sessions
  readonly accounts: Accounts
  readonly stamps: ActivityStamps
  readonly clock: Clock
}

const tag = 'Sign-in'
const PASSWORD_REFUSALS = ['invalid_credentials', 'account_locked', 'unavailable'] as const
const NEW_PASSWORD_REFUSALS = ['password_rejected', 'unavailable'] as const

export const authRoutes = (parts: AuthParts): Route[] => [
  ...signInRoutes(parts),
  ...sessionRoutes(parts),
  ...registrationRoutes(parts),
  ...recoveryRoutes(parts),
  ...ownAccountRoutes(parts),
]

const signInRoutes = ({ signIn }: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/auth/login',
    tag,
    summary: 'Sign in with a password',
    needs: 'anyone',
    body: shapes.LoginRequest,
    reply: shapes.TokenReply,
    refusals: [...PASSWORD_REFUSALS, 'not_offered', 'account_not_verified', 'account_disabled', 'password_expired'],
    handle: async ({ body, request }) => tokenReply(await signIn.withPassword(body, request)),
  }),
  route({
    method: 'POST',
    path: '/auth/change-expired-password',
    tag,
    summary: 'Sign in with a password that got too old, and replace it',
    needs: 'anyone',
    body: shapes.ChangeExpiredPasswordRequest,
    reply: shapes.TokenReply,
    refusals: [
      ...PASSWORD_REFUSALS,
      ...NEW_PASSWORD_REFUSALS,
      'bad_request',
      'not_offered',
      'account_not_verified',
      'account_disabled',
    ],
    handle: async ({ body, request }) => tokenReply(await signIn.withExpiredPassword(body, request)),
  }),
  route({
    method: 'POST',
    path: '/auth/local',
    tag,
    summary: 'Sign in without a password, on the machine of the server and in mode none only',
    needs: 'anyone',
    reply: shapes.LocalReply,
    refusals: ['not_offered', 'permission_denied', 'account_disabled'],
    handle: async ({ request }) => {
      const signedIn = await signIn.asLocalUser(request)
      return { ...tokenReply(signedIn), email: signedIn.account.email }
    },
  }),
]

const sessionRoutes = ({ sessions, accounts, stamps, clock }: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/auth/refresh',
    tag,
    summary: 'Replace the session token by a new one; may be repeated when the answer was lost',
    needs: 'anyone, judged by token',
    reply: shapes.TokenReply,
    refusals: ['not_authenticated', 'account_disabled', 'password_expired'],
    handle: async ({ request }) => {
      if (request.bearerToken === undefined) throw new AppError('not_authenticated', 'Not authenticated')
      const refreshed = await sessions.refresh(request.bearerToken, request)
      stamps.touchUser(refreshed.account.id, clock.nowMs() / 1000) // of the person, not of the session: a background tab refreshes too
      return tokenReply(refreshed)
    },
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    tag,
    summary: 'End the session of the token; never refused',
    needs: 'anyone, judged by token',
    reply: shapes.LogoutReply,
    handle: async ({ request }) => {
      if (request.bearerToken !== undefined) await sessions.end(request.bearerToken, request)
      return new Reply({ status: 'ok' }, { headers: { 'clear-site-data': '"storage"' } })
    },
  }),
  route({
    method: 'GET',
    path: '/auth/me',
    tag,
    summary: 'Who is signed in',
    needs: 'signed in',
    reply: shapes.Me,
    handle: async ({ caller }) => {
      const standing = await accounts.findStanding(caller.userId)
      if (!standing) throw new AppError('not_authenticated', 'User not found')
      return { id: standing.userId, email: standing.email, handle: standing.handle }
    },
  }),
]

const registrationRoutes = ({ registration }: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/auth/register',
    tag,
    summary: 'Create an account of your own',
    needs: 'anyone',
    body: shapes.RegisterRequest,
    reply: shapes.RegisterReply,
    refusals: [...NEW_PASSWORD_REFUSALS, 'bad_request', 'not_offered', 'mail_failed'],
    handle: async ({ body, request }) => {
      const registered = await registration.register(body, request)
      if (!('token' in registered)) return { status: 'pending_verification' as const, email: registered.email }
      return { ...tokenReply(registered), user_id: registered.account.id, email: registered.account.email }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/verify',
    tag,
    summary: 'Prove an email address with the link that was sent to it, and sign in',
    needs: 'anyone',
    body: shapes.VerifyRequest,
    reply: shapes.VerifyReply,
    refusals: ['link_not_valid', 'account_disabled'],
    handle: async ({ body, request }) => ({
      status: 'verified' as const,
      ...tokenReply(await registration.verify(body.token, request)),
    }),
  }),
  route({
    method: 'POST',
    path: '/auth/resend-verification',
    tag,
    summary: 'Send the verification link again',
    needs: 'anyone',
    body: shapes.ResendVerificationRequest,
    reply: shapes.SentReply,
    refusals: [...PASSWORD_REFUSALS, 'bad_request', 'not_offered', 'account_disabled', 'rate_limited', 'mail_failed'],
    handle: async ({ body, request }) => {
      await registration.resend(body, request)
      return { status: 'sent' as const }
    },
  }),
]

const recoveryRoutes = ({ recovery }: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/auth/forgot-password',
    tag,
    summary: 'Ask for a link that sets a new password; the answer is the same for every address',
    needs: 'anyone',
    body: shapes.ForgotPasswordRequest,
    reply: shapes.SentReply,
    refusals: ['rate_limited'],
    handle: ({ body, request }) => {
      recovery.forgot(body.email, request)
      return { status: 'sent' as const }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/reset-password',
    tag,
    summary: 'Set a new password with the link that was sent, and sign in',
    needs: 'anyone',
    body: shapes.ResetPasswordRequest,
    reply: shapes.ResetPasswordReply,
    refusals: [...NEW_PASSWORD_REFUSALS, 'link_not_valid', 'not_offered', 'account_disabled'],
    handle: async ({ body, request }) => ({
      status: 'reset' as const,
      ...tokenReply(await recovery.reset(body, request)),
    }),
  }),
]

const ownAccountRoutes = ({ own }: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/auth/change-password',
    tag,
    summary: 'Change your own password; ends all your sessions',
    needs: 'signed in, password change due',
    body: shapes.ChangePasswordRequest,
    reply: shapes.UpdatedReply,
    refusals: [...PASSWORD_REFUSALS, ...NEW_PASSWORD_REFUSALS, 'permission_denied', 'conflict'],
    handle: async ({ caller, body, request }) => {
      await own.changePassword(caller, body, request)
      return { status: 'updated' as const }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/change-email',
    tag,
    summary: 'Change your own address; it must be verified again',
    needs: 'signed in',
    body: shapes.ChangeEmailRequest,
    reply: shapes.ChangeEmailReply,
    refusals: [...PASSWORD_REFUSALS, 'bad_request', 'permission_denied', 'rate_limited', 'conflict', 'mail_failed'],
    handle: async ({ caller, body, request }) => {
      await own.changeEmail(caller, body, request)
      return { status: 'updated' as const, needs_verification: true as const }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/change-handle',
    tag,
    summary: 'Change your own handle',
    needs: 'signed in',
    body: shapes.ChangeHandleRequest,
    reply: shapes.ChangeHandleReply,
    refusals: [...PASSWORD_REFUSALS, 'bad_request', 'permission_denied', 'conflict'],
    handle: async ({ caller, body, request }) => ({
      status: 'updated' as const,
      handle: await own.changeHandle(caller, body, request),
    }),
  }),
]
