import { UserDeleted, UserParams } from '@svc/protocol/users'
import { type Route, route } from '../../kernel/route.ts'
import type { UserDeparture } from './user-departure.ts'

export const userDepartureRoutes = (departure: UserDeparture): Route[] => [
  route({
    method: 'DELETE',
    path: '/users/:id',
    tag: 'Users',
    summary: 'Delete an account; its workspaces are kept as archives',
    needs: { permission: 'manage-users', on: '/users' },
    params: UserParams,
    reply: UserDeleted,
    refusals: ['bad_request', 'not_found', 'audit_unavailable', 'unavailable'],
    async handle({ caller, params, request }) {
      await departure.delete(caller, params.id, request)
      return { status: 'deleted' as const }
    },
  }),
]
