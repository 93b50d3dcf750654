import { DEFAULT_PAGE_SIZE } from '@svc/protocol/paging'
import {
  CreatedUser,
  CreateUser,
  FoundUsers,
  ListUsers,
  SearchUsers,
  UpdateUser,
  UserListing,
  UserParams,
  UserSessions,
  UserUnlocked,
  UserUpdated,
} from '@svc/protocol/users'
import { type Need, type Route, route } from '../../kernel/route.ts'
import type { UserDirectory } from './user-directory.ts'
import type { UserService } from './user-service.ts'
import { changeFromWire, filterFromWire, sessionToWire, userToWire } from './user-wire.ts'

const TAG = 'Users'
const manage: Need = { permission: 'manage-users', on: '/users' }

export const userRoutes = ({ users, directory }: { users: UserService; directory: UserDirectory }): Route[] => [
  route({
    method: 'GET',
    path: '/users',
    tag: TAG,
    summary: 'List everybody who has an account',
    needs: manage,
    query: ListUsers,
    reply: UserListing,
    async handle({ query }) {
      const filter = filterFromWire(query)
      if (query.page === undefined && query.page_size === undefined) {
        return (await directory.list(filter)).map(userToWire)
      }
      const wanted = { page: query.page ?? 1, pageSize: query.page_size ?? DEFAULT_PAGE_SIZE }
      const { page, pageSize, total, ...listed } = await directory.page(filter, wanted)
      return { users: listed.users.map(userToWire), page, page_size: pageSize, total }
    },
  }),
  route({
    method: 'POST',
    path: '/users',
    tag: TAG,
    summary: 'Create an account for somebody',
    needs: manage,
    body: CreateUser,
    reply: CreatedUser,
    refusals: ['bad_request', 'password_rejected', 'mail_failed', 'unavailable'],
    async handle({ caller, body, request }) {
      const { email, password, send_verification_email: sendVerificationEmail } = body
      const fresh = { email, password: password ?? undefined, sendVerificationEmail: sendVerificationEmail ?? false }
      const user = await users.create(caller, fresh, request)
      return { ...userToWire(user), status: user.verified ? ('created' as const) : ('pending_verification' as const) }
    },
  }),
  route({
    method: 'PATCH',
    path: '/users/:id',
    tag: TAG,
    summary: 'Change, disable or enable an account',
    needs: manage,
    params: UserParams,
    body: UpdateUser,
    reply: UserUpdated,
    refusals: ['bad_request', 'password_rejected', 'not_found', 'conflict', 'unavailable'],
    async handle({ caller, params, body, request }) {
      await users.update(caller, params.id, changeFromWire(body), request)
      return { status: 'updated' as const }
    },
  }),
  route({
    method: 'POST',
    path: '/users/:id/unlockout',
    tag: TAG,
    summary: 'Let somebody sign in again after too many wrong passwords',
    needs: manage,
    params: UserParams,
    reply: UserUnlocked,
    refusals: ['not_found'],
    async handle({ caller, params, request }) {
      await users.unlock(caller, params.id, request)
      return { status: 'unlocked' as const }
    },
  }),
  route({
    method: 'GET',
    path: '/users/:id/sessions',
    tag: TAG,
    summary: 'List where somebody is signed in, the oldest first',
    needs: manage,
    params: UserParams,
    reply: UserSessions,
    refusals: ['not_found'],
    handle: async ({ params }) => ({ items: (await directory.sessionsOf(params.id)).map(sessionToWire) }),
  }),
  route({
    method: 'GET',
    path: '/users/search',
    tag: TAG,
    summary: 'Find people by the beginning of their address or handle',
    needs: { permission: 'search-users', on: '/users' },
    query: SearchUsers,
    reply: FoundUsers,
    refusals: ['bad_request'],
    handle: ({ query }) => directory.search(query.q),
  }),
]
