import {
  CreateVolume,
  VolumeDeleted,
  VolumeName,
  VolumePage,
  VolumeQuery,
  Volume as VolumeReply,
} from '@svc/protocol/volumes'
import * as z from 'zod'
import { type Route, route } from '../../kernel/route.ts'
import { isoTime } from '../../kernel/wire-time.ts'
import type { VolumeInUse } from './volume-list.ts'
import type { Volumes } from './volumes.ts'

const tag = 'Volumes'
const needs = { permission: 'manage-volumes', on: '/volumes' } as const

export const volumeRoutes = (volumes: Volumes): Route[] => [
  route({
    method: 'GET',
    path: '/volumes',
    tag,
    summary: 'List volumes, a page at a time',
    needs: { permission: 'view-volumes', on: '/volumes' },
    query: VolumeQuery,
    reply: VolumePage,
    refusals: ['unavailable'],
    async handle({ query }) {
      const { page, page_size, sort, order, q } = query
      const found = await volumes.list({ page, pageSize: page_size, sort, order, text: q })
      return { volumes: found.volumes.map(toWire), page, page_size, total: found.total }
    },
  }),
  route({
    method: 'POST',
    path: '/volumes',
    tag,
    summary: 'Create a volume for one workspace',
    needs,
    body: CreateVolume,
    reply: VolumeReply,
    refusals: ['bad_request', 'workspace_not_found', 'conflict', 'volume_quota_reached', 'unavailable'],
    async handle({ caller, body, request }) {
      const wanted = { name: body.name, workspaceId: body.workspace }
      return toWire(await volumes.create({ actor: caller, request }, wanted))
    },
  }),
  route({
    method: 'DELETE',
    path: '/volumes/:name',
    tag,
    summary: 'Delete a volume and everything on it',
    needs,
    params: z.object({ name: VolumeName }),
    reply: VolumeDeleted,
    refusals: ['bad_request', 'not_found', 'conflict', 'unavailable'],
    async handle({ caller, params, request }) {
      await volumes.delete({ actor: caller, request }, params.name)
      return { status: 'deleted' as const }
    },
  }),
]

const toWire = ({ name, createdAt, workspaceId, workspace, mountedBy }: VolumeInUse): VolumeReply => ({
  name,
  created: isoTime(createdAt),
  workspace_id: workspaceId,
  workspace,
  workspaces: [...mountedBy],
})
