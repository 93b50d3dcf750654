import type { InvitationStatus } from '@svc/protocol/invitations'
import { AppError } from '../../kernel/app-error.ts'

/** Somebody was asked by mail to make an account. Moments are epoch seconds. */
export interface Invitation {
  readonly id: string
  readonly email: string
  /** Kept although the account may be gone. */
  readonly invitedBy: string
  readonly invitedByEmail: string
  readonly status: InvitationStatus
  readonly createdAt: number
  readonly acceptedAt: number | null
}

/** An operator who turns invitations off also closes those that are on their way. */
export function requireInvitationsOffered({ disableInvites }: { disableInvites: boolean }): void {
  if (disableInvites) throw new AppError('not_offered', 'Invitations are disabled')
}
