import {
  AddGroupMember,
  ChangeGroup,
  CreateGroup,
  GroupMember,
  GroupPage,
  GroupQuery,
  Group as GroupReply,
  GroupSource,
} from '@svc/protocol/groups'
import * as z from 'zod'
import { AppError } from '../../kernel/app-error.ts'
import { type Route, route } from '../../kernel/route.ts'
import { plainTime } from '../../kernel/wire-time.ts'
import type { Group, Member } from './group.ts'
import type { GroupService } from './group-service.ts'

const tag = 'Groups'
const needs = { permission: 'manage-groups', on: '/groups' } as const
const params = z.object({ id: z.string() })
const statusReply = <S extends string>(status: S) => z.object({ status: z.literal(status) })

export const groupRoutes = (groups: GroupService): Route[] => [
  route({
    method: 'GET',
    path: '/groups',
    tag,
    summary: 'List groups, a page at a time',
    needs: 'signed in',
    query: GroupQuery,
    reply: GroupPage,
    async handle({ caller, query }) {
      const { page, page_size, sort, order, q } = query
      const view = { page, pageSize: page_size, sort, order, text: q, source: sourceIn(query.source) }
      const found = await groups.list(caller, view)
      return { groups: found.groups.map(toWire), page, page_size, total: found.total }
    },
  }),
  route({
    method: 'POST',
    path: '/groups',
    tag,
    summary: 'Create a group',
    needs,
    body: CreateGroup,
    reply: GroupReply,
    refusals: ['bad_request', 'conflict'],
    handle: async ({ caller, body, request }) => toWire(await groups.create({ actor: caller, request }, body)),
  }),
  route({
    method: 'PATCH',
    path: '/groups/:id',
    tag,
    summary: 'Rename a group or describe it anew',
    needs,
    params,
    body: ChangeGroup,
    reply: statusReply('updated'),
    refusals: ['bad_request', 'not_found', 'conflict'],
    async handle({ caller, params, body, request }) {
      await groups.change({ actor: caller, request }, params.id, body)
      return { status: 'updated' as const }
    },
  }),
  route({
    method: 'DELETE',
    path: '/groups/:id',
    tag,
    summary: 'Delete a group and every access-control entry that names it',
    needs,
    params,
    reply: statusReply('deleted'),
    refusals: ['bad_request', 'not_found'],
    async handle({ caller, params, request }) {
      await groups.delete({ actor: caller, request }, params.id)
      return { status: 'deleted' as const }
    },
  }),
  ...memberRoutes(groups),
]

const memberRoutes = (groups: GroupService): Route[] => [
  route({
    method: 'GET',
    path: '/groups/:id/members',
    tag,
    summary: 'List who is in a group',
    needs,
    params,
    reply: z.array(GroupMember),
    refusals: ['not_found'],
    handle: async ({ params }) => (await groups.members(params.id)).map(memberToWire),
  }),
  route({
    method: 'POST',
    path: '/groups/:id/members',
    tag,
    summary: 'Add somebody to a group',
    needs,
    params,
    body: AddGroupMember,
    reply: statusReply('added'),
    refusals: ['bad_request', 'not_found'],
    async handle({ caller, params, body, request }) {
      await groups.addMember({ actor: caller, request }, params.id, body.user_id)
      return { status: 'added' as const }
    },
  }),
  route({
    method: 'DELETE',
    path: '/groups/:id/members/:user_id',
    tag,
    summary: 'Remove somebody from a group',
    needs,
    params: params.extend({ user_id: z.string() }),
    reply: statusReply('removed'),
    refusals: ['not_found'],
    async handle({ caller, params, request }) {
      await groups.removeMember({ actor: caller, request }, params.id, params.user_id)
      return { status: 'removed' as const }
    },
  }),
]

/** The contract answers a wrong source with a sentence, not with a list of fields. */
function sourceIn(text: string | undefined): GroupSource | undefined {
  const source = GroupSource.optional().safeParse(text)
  if (source.success) return source.data
  throw new AppError('invalid_request', `source must be ${GroupSource.options.join(' or ')}`)
}

function toWire({ createdAt, ...group }: Group): GroupReply {
  return { ...group, created_at: plainTime(createdAt) }
}

const memberToWire = ({ userId, ...member }: Member): GroupMember => ({ id: userId, ...member })
