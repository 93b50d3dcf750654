import * as z from 'zod'
import { DEFAULT_PAGE_SIZE, PageNumber, PageSize, SortOrder } from './paging.ts'

/** Volumes: what `/volumes` takes and answers. */

/** As mounts name them too. */
export const VOLUME_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/

export const VolumeName = z.string().regex(VOLUME_NAME)

export const Volume = z.object({
  name: z.string(),
  created: z.string().meta({ description: 'ISO 8601 with offset' }),
  workspace_id: z.string().meta({ description: 'The workspace it belongs to, and may be mounted in' }),
  workspace: z.string().nullable().meta({ description: 'Its name; null when there is no such workspace any more' }),
  workspaces: z.array(z.string()).meta({ description: 'Names of the workspaces whose mounts refer to it' }),
})
export type Volume = z.infer<typeof Volume>

export const VolumeQuery = z.object({
  page: PageNumber.default(1),
  page_size: PageSize.default(DEFAULT_PAGE_SIZE),
  sort: z.enum(['name', 'created']).catch('created').default('created'),
  order: SortOrder.catch('desc').default('desc'),
  q: z.string().optional().meta({
    description: 'A part of its name, or of the name of a workspace that owns or mounts it, whatever the case',
  }),
})

export const VolumePage = z.object({
  volumes: z.array(Volume),
  page: z.int(),
  page_size: z.int(),
  total: z.int(),
})
export type VolumePage = z.infer<typeof VolumePage>

export const CreateVolume = z.object({
  name: VolumeName,
  workspace: z.string().meta({ description: 'Id of the workspace it is for' }),
})
export type CreateVolume = z.infer<typeof CreateVolume>

export const VolumeDeleted = z.object({ status: z.literal('deleted') })
