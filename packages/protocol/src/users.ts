import * as z from 'zod'
import { PageNumber, PageSize, SortOrder } from './paging.ts'

/** User administration: what `/users` takes and answers. */

export const UserParams = z.object({ id: z.string() })

export const User = z.object({
  id: z.string(),
  email: z.string(),
  handle: z.string(),
  verified: z.boolean().meta({ description: 'The address is known to be theirs' }),
  provider: z.string().meta({ description: '`local` for accounts with a password here' }),
  created_at: z.string().meta({ description: '`YYYY-MM-DD HH:MM:SS` in UTC' }),
  disabled: z.boolean(),
  last_login_at: z.string().nullable().meta({ description: 'ISO 8601 with offset; null when they never signed in' }),
  last_activity_at: z.string().nullable().meta({ description: 'ISO 8601 with offset' }),
  must_change_password: z.boolean().meta({ description: 'They must choose a new password before anything else' }),
  groups: z.array(z.object({ id: z.string(), name: z.string() })),
})
export type User = z.infer<typeof User>

export const UserSort = z.enum(['email', 'handle', 'created'])
export type UserSort = z.infer<typeof UserSort>

export const ListUsers = z.object({
  page: PageNumber.optional(),
  page_size: PageSize.optional(),
  sort: UserSort.optional().catch(undefined).meta({ description: '`created` unless given' }),
  order: SortOrder.optional()
    .catch(undefined)
    .meta({ description: 'Unless given: the newest first, names from a to z' }),
  q: z.string().optional().meta({ description: 'A part of the address, whatever its case' }),
})
export type ListUsers = z.infer<typeof ListUsers>

export const UserPage = z.object({
  users: z.array(User),
  page: z.int(),
  page_size: z.int(),
  total: z.int().meta({ description: 'Users on all pages' }),
})
export type UserPage = z.infer<typeof UserPage>

export const UserListing = z
  .union([z.array(User), UserPage])
  .meta({ description: 'A plain list, or a page when `page` or `page_size` was sent' })
export type UserListing = z.infer<typeof UserListing>

export const CreateUser = z.object({
  email: z.string(),
  password: z.string().nullish().meta({ description: 'Its owner has to change it after the first sign-in' }),
  send_verification_email: z
    .boolean()
    .nullish()
    .meta({ description: 'Create the account unverified, without a usable password, and mail a link to its owner' }),
})
export type CreateUser = z.infer<typeof CreateUser>

export const CreatedUser = User.extend({ status: z.enum(['created', 'pending_verification']) })
export type CreatedUser = z.infer<typeof CreatedUser>

/** What is absent or null stays as it is. */
export const UpdateUser = z.object({
  email: z.string().nullish(),
  password: z.string().nullish().meta({ description: 'Ends every session of the user' }),
  handle: z.string().nullish(),
  disabled: z.boolean().nullish(),
  must_change_password: z
    .boolean()
    .nullish()
    .meta({ description: 'True when a password is set, unless given. Only for accounts with a password here' }),
})
export type UpdateUser = z.infer<typeof UpdateUser>

export const UserUpdated = z.object({ status: z.literal('updated') })
export const UserDeleted = z.object({ status: z.literal('deleted') })
export const UserUnlocked = z.object({ status: z.literal('unlocked') })

export const UserSessions = z.object({
  items: z.array(
    z.object({
      created_at: z.string().meta({ description: '`YYYY-MM-DD HH:MM:SS` in UTC' }),
      expires_at: z.string().meta({ description: 'ISO 8601 with offset' }),
      last_seen_at: z.string().meta({ description: 'ISO 8601 with offset' }),
      source_ip: z.string().nullable(),
      user_agent: z.string().nullable(),
    }),
  ),
})
export type UserSessions = z.infer<typeof UserSessions>

export const ListUserWorkspaces = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(100),
  offset: z.coerce.number().int().min(0).default(0),
})
export type ListUserWorkspaces = z.infer<typeof ListUserWorkspaces>

export const SearchUsers = z.object({
  q: z.string().meta({ description: 'What an address or handle begins with, taken literally' }),
})

export const FoundUsers = z.array(z.object({ id: z.string(), email: z.string(), handle: z.string() }))
export type FoundUsers = z.infer<typeof FoundUsers>
