import * as z from 'zod'
import { DEFAULT_PAGE_SIZE, PageNumber, PageSize, SortOrder } from './paging.ts'

/** Bounded, because the database finds groups by their names. */
const MAX_NAME_LENGTH = 255
const MAX_DESCRIPTION_LENGTH = 2000
/** What would make two names look the same; and half a surrogate pair, which a database would store as another. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}]/u
/** Line breaks are welcome in a description, what could move a terminal's cursor is not. */
const UNPRINTABLE = /[^\P{C}\n]/u

export const GroupSource = z
  .enum(['manual', 'workspace-role'])
  .meta({ description: '`manual`: kept by people; `workspace-role`: one of the four roles of a workspace' })
export type GroupSource = z.infer<typeof GroupSource>

export const Group = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  source: GroupSource,
  created_at: z.string().meta({ description: '`YYYY-MM-DD HH:MM:SS` in UTC' }),
})
export type Group = z.infer<typeof Group>

export const GroupQuery = z.object({
  page: PageNumber.default(1),
  page_size: PageSize.default(DEFAULT_PAGE_SIZE),
  sort: z.enum(['name', 'created']).catch('name').default('name'),
  order: SortOrder.catch('asc').default('asc'),
  q: z.string().optional().meta({ description: 'A part of the name, whatever its case' }),
  source: z
    .string()
    .optional()
    .meta({ description: '`manual` or `workspace-role`. Role groups are shown to holders of `manage-groups` alone' }),
})

export const GroupPage = z.object({
  groups: z.array(Group),
  page: z.int(),
  page_size: z.int(),
  total: z.int(),
})
export type GroupPage = z.infer<typeof GroupPage>

const GroupName = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME_LENGTH)
  .refine((name) => !INVISIBLE.test(name), 'must not hold control characters')

const Description = z
  .string()
  .max(MAX_DESCRIPTION_LENGTH)
  .refine((text) => !UNPRINTABLE.test(text), 'must not hold control characters')

export const CreateGroup = z.object({
  name: GroupName,
  description: Description.nullish(),
})
export type CreateGroup = z.infer<typeof CreateGroup>

export const ChangeGroup = z.object({
  name: GroupName.nullish(),
  description: Description.nullish().meta({ description: 'An empty text takes it away' }),
})
export type ChangeGroup = z.infer<typeof ChangeGroup>

export const GroupMember = z.object({
  id: z.string(),
  email: z.string(),
  handle: z.string(),
  source: z.string().meta({ description: 'Who put them there: `manual`, or the part of the server that did' }),
})
export type GroupMember = z.infer<typeof GroupMember>

export const AddGroupMember = z.object({ user_id: z.string() })
export type AddGroupMember = z.infer<typeof AddGroupMember>
