import * as z from 'zod'
import { WorkspaceStatus } from './workspaces.ts'

/** Whether a workspace runs, how it does, and what to answer when that is changed. */

/** How a container ended by itself: out of memory, by its own program, or removed by somebody else. */
export const deathCauses = ['oom', 'exited', 'removed'] as const
export type DeathCause = (typeof deathCauses)[number]

export const WorkspaceNetwork = z.object({
  mode: z.enum(['none', 'isolated', 'host']).meta({
    description:
      'none: nothing can leave the workspace. isolated: out to the world, not to other workspaces. ' +
      'host: the network of the machine itself, unfiltered',
  }),
  note: z.string().nullable().meta({ description: 'Why this is not what the workspace asks for' }),
})
export type WorkspaceNetwork = z.infer<typeof WorkspaceNetwork>

export const WorkspaceStatusReply = WorkspaceStatus.extend({
  network: WorkspaceNetwork.nullable().meta({ description: 'Null while it is stopped' }),
})
export type WorkspaceStatusReply = z.infer<typeof WorkspaceStatusReply>

export const WorkspaceStarted = z.object({ status: z.enum(['started', 'already_running']) })
export const WorkspaceStopped = z.object({ status: z.literal('stopped') })
export const WorkspaceRestarted = z.object({ status: z.literal('restarted') })

export const WorkspaceTokenVerified = z.object({ status: z.literal('ok'), workspace_id: z.string() })
