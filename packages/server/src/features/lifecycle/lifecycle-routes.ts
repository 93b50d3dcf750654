import type { ErrorCode } from '@svc/protocol/errors'
import { WorkspaceRestarted, WorkspaceStarted, WorkspaceStatusReply, WorkspaceStopped } from '@svc/protocol/lifecycle'
import type { Permission } from '@svc/protocol/permissions'
import * as z from 'zod'
import { anyOf, type Caller, type Route, route } from '../../kernel/route.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Actor } from './lifecycle-news.ts'
import { statusToWire } from './workspace-status.ts'

const Params = z.object({ id: z.string() })
const WORKSPACE = '/workspaces/:id'
const TAG = 'Workspaces'

/** Who may use its terminals may also start and stop it. */
const terminalOr = (permission: Permission) =>
  anyOf({ permission: 'terminal', on: WORKSPACE }, { permission, on: WORKSPACE })

const START_REFUSALS: readonly ErrorCode[] = [
  'bad_request',
  'workspace_not_found',
  'image_not_usable',
  'conflict',
  'volume_quota_reached',
  'capacity_reached',
  'running_limit_reached',
  'draining',
  'audit_unavailable',
  'start_failed',
  'unavailable',
]

const actor = ({ userId }: Caller): Actor => ({ type: 'user', id: userId })

export const lifecycleRoutes = ({
  lifecycle,
  workspaces,
}: {
  lifecycle: Lifecycle
  workspaces: Pick<Workspaces, 'require'>
}): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/status',
    tag: TAG,
    summary: 'Whether a workspace runs, and how it does',
    needs: { permission: 'monitor-workspace', on: WORKSPACE },
    params: Params,
    reply: WorkspaceStatusReply,
    refusals: ['workspace_not_found'],
    handle: async ({ params }) => statusToWire(lifecycle.status(await workspaces.require(params.id))),
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/start',
    tag: TAG,
    summary: 'Start a workspace; answers once it can be used',
    needs: terminalOr('start-workspace'),
    params: Params,
    reply: WorkspaceStarted,
    refusals: START_REFUSALS,
    handle: async ({ caller, params, request }) => {
      const by = { cause: 'api', actor: actor(caller), externalUrl: request.externalUrl } as const
      return { status: await lifecycle.start(params.id, by) }
    },
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/stop',
    tag: TAG,
    summary: 'Stop a workspace; one that does not run is fine as well',
    needs: terminalOr('stop-workspace'),
    params: Params,
    reply: WorkspaceStopped,
    refusals: ['workspace_not_found', 'audit_unavailable', 'unavailable'],
    handle: async ({ caller, params }) => {
      await workspaces.require(params.id)
      await lifecycle.stop(params.id, { cause: 'stop', actor: actor(caller) })
      return { status: 'stopped' as const }
    },
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/restart',
    tag: TAG,
    summary: 'Stop a workspace; its next use starts it anew, and one that starts with the server starts at once',
    needs: terminalOr('restart-workspace'),
    params: Params,
    reply: WorkspaceRestarted,
    refusals: START_REFUSALS,
    handle: async ({ caller, params, request }) => {
      await workspaces.require(params.id)
      await lifecycle.restart(params.id, { actor: actor(caller), externalUrl: request.externalUrl })
      return { status: 'restarted' as const }
    },
  }),
]
