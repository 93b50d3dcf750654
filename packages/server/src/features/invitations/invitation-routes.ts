import {
  AcceptInvite,
  InvitationList,
  InvitationQuery,
  Invitation as InvitationReply,
  Invite,
  InviteAccepted,
} from '@svc/protocol/invitations'
import { DEFAULT_PAGE_SIZE } from '@svc/protocol/paging'
import * as z from 'zod'
import { type Route, route } from '../../kernel/route.ts'
import { plainTime } from '../../kernel/wire-time.ts'
import { tokenReply } from '../auth/signed-in.ts'
import type { Invitation } from './invitation.ts'
import type { InvitationAcceptance } from './invitation-acceptance.ts'
import type { InvitationService } from './invitation-service.ts'

const tag = 'Invitations'
const needs = { permission: 'manage-invitations', on: '/invitations' } as const
const params = z.object({ id: z.string() })

export const invitationRoutes = (invitations: InvitationService): Route[] => [
  route({
    method: 'GET',
    path: '/invitations',
    tag,
    summary: 'List invitations, whatever became of them',
    needs,
    query: InvitationQuery,
    reply: InvitationList,
    async handle({ query }) {
      const { sort, order, q } = query
      if (query.page === undefined && query.page_size === undefined) return (await invitations.list()).map(toWire)
      const { page = 1, page_size = DEFAULT_PAGE_SIZE } = query
      const found = await invitations.page({ page, pageSize: page_size, sort, order, text: q })
      const { total, pending } = found
      return { invitations: found.invitations.map(toWire), page, page_size, total, pending_count: pending }
    },
  }),
  route({
    method: 'POST',
    path: '/invitations',
    tag,
    summary: 'Ask somebody by mail to make an account',
    needs,
    body: Invite,
    reply: InvitationReply,
    refusals: ['bad_request', 'not_offered', 'mail_failed'],
    handle: async ({ caller, body, request }) =>
      toWire(await invitations.invite({ actor: caller, request }, body.email)),
  }),
  route({
    method: 'POST',
    path: '/invitations/:id/resend',
    tag,
    summary: 'Send a fresh link to somebody who has not accepted yet',
    needs,
    params,
    reply: z.object({ status: z.literal('resent') }),
    refusals: ['not_offered', 'not_found', 'mail_failed'],
    async handle({ caller, params, request }) {
      await invitations.resend({ actor: caller, request }, params.id)
      return { status: 'resent' as const }
    },
  }),
  route({
    method: 'DELETE',
    path: '/invitations/:id',
    tag,
    summary: 'Revoke a pending invitation',
    needs,
    params,
    reply: z.object({ status: z.literal('revoked') }),
    refusals: ['not_found'],
    async handle({ caller, params, request }) {
      await invitations.revoke({ actor: caller, request }, params.id)
      return { status: 'revoked' as const }
    },
  }),
]

export const acceptanceRoutes = (acceptance: InvitationAcceptance): Route[] => [
  route({
    method: 'POST',
    path: '/auth/accept-invite',
    tag: 'Sign-in',
    summary: 'Make an account from an invitation, and sign in',
    needs: 'anyone',
    body: AcceptInvite,
    reply: InviteAccepted,
    refusals: ['bad_request', 'link_not_valid', 'password_rejected', 'not_offered', 'unavailable'],
    handle: async ({ body, request }) => ({
      status: 'accepted' as const,
      ...tokenReply(await acceptance.accept(body, request)),
    }),
  }),
]

function toWire(invitation: Invitation): InvitationReply {
  const { id, email, status, acceptedAt } = invitation
  return {
    id,
    email,
    status,
    invited_by: invitation.invitedBy,
    invited_by_email: invitation.invitedByEmail,
    created_at: plainTime(invitation.createdAt),
    accepted_at: acceptedAt === null ? null : plainTime(acceptedAt),
  }
}
