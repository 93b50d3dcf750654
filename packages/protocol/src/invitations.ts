import * as z from 'zod'
import { TokenReply } from './auth.ts'
import { PageNumber, PageSize, SortOrder } from './paging.ts'

export const InvitationStatus = z.enum(['pending', 'accepted', 'revoked'])
export type InvitationStatus = z.infer<typeof InvitationStatus>

export const Invitation = z.object({
  id: z.string(),
  email: z.string(),
  invited_by: z.string().meta({ description: 'User id' }),
  invited_by_email: z.string(),
  status: InvitationStatus,
  created_at: z.string().meta({ description: '`YYYY-MM-DD HH:MM:SS` in UTC' }),
  accepted_at: z.string().nullable().meta({ description: '`YYYY-MM-DD HH:MM:SS` in UTC' }),
})
export type Invitation = z.infer<typeof Invitation>

export const InvitationQuery = z.object({
  page: PageNumber.optional(),
  page_size: PageSize.optional(),
  sort: z.enum(['email', 'invited_by', 'created']).catch('created').default('created'),
  order: SortOrder.catch('desc').default('desc'),
  q: z.string().optional().meta({ description: 'A part of the address, whatever its case' }),
})
export type InvitationQuery = z.infer<typeof InvitationQuery>

export const InvitationPage = z.object({
  invitations: z.array(Invitation),
  page: z.int(),
  page_size: z.int(),
  total: z.int(),
  pending_count: z.int().meta({ description: 'Pending invitations in all, whatever was asked for' }),
})
export type InvitationPage = z.infer<typeof InvitationPage>

export const InvitationList = z
  .union([z.array(Invitation), InvitationPage])
  .meta({ description: 'All of them, the newest first; one page when `page` or `page_size` is sent' })

export const Invite = z.object({ email: z.string() })
export type Invite = z.infer<typeof Invite>

export const AcceptInvite = z.object({
  token: z.string().meta({ description: 'From the link in the mail' }),
  password: z.string(),
})
export type AcceptInvite = z.infer<typeof AcceptInvite>

export const InviteAccepted = TokenReply.extend({ status: z.literal('accepted') })
export type InviteAccepted = z.infer<typeof InviteAccepted>
