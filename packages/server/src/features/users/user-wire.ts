import type { ListUsers, UpdateUser, UserSessions, User as WireUser } from '@svc/protocol/users'
import { isoTime, plainTime } from '../../kernel/wire-time.ts'
import type { Session } from '../sessions/session.ts'
import type { User, UserChange, UserFilter } from './user.ts'

const isoOrNull = (seconds: number | null): string | null => (seconds === null ? null : isoTime(seconds))

export const userToWire = (user: User): WireUser => ({
  id: user.id,
  email: user.email,
  handle: user.handle,
  verified: user.verified,
  provider: user.provider,
  created_at: plainTime(user.createdAt),
  disabled: user.disabled,
  last_login_at: isoOrNull(user.lastLoginAt),
  last_activity_at: isoOrNull(user.lastActivityAt),
  must_change_password: user.mustChangePassword,
  groups: [...user.groups],
})

export const sessionToWire = (session: Session): UserSessions['items'][number] => ({
  created_at: plainTime(session.createdAt),
  expires_at: isoTime(session.expiresAt),
  last_seen_at: isoTime(session.lastSeenAt),
  source_ip: session.sourceIp,
  user_agent: session.userAgent,
})

/** The newest account first, names from a to z. */
export function filterFromWire({ sort = 'created', order, q = '' }: ListUsers): UserFilter {
  return { sort, order: order ?? (sort === 'created' ? 'desc' : 'asc'), q }
}

/** Null means absent. */
export const changeFromWire = (body: UpdateUser): UserChange => ({
  ...(body.email == null ? {} : { email: body.email }),
  ...(body.password == null ? {} : { password: body.password }),
  ...(body.handle == null ? {} : { handle: body.handle }),
  ...(body.disabled == null ? {} : { disabled: body.disabled }),
  ...(body.must_change_password == null ? {} : { mustChangePassword: body.must_change_password }),
})
