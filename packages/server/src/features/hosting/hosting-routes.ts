import { HostedAccess } from '@svc/protocol/hosting'
import * as z from 'zod'
import { hostedCookie, hostedPath } from '../../kernel/hosted-address.ts'
import { Reply, type Route, route } from '../../kernel/route.ts'
import type { Hosting } from './hosting.ts'

export const hostingRoutes = (hosting: Hosting): Route[] => [
  route({
    method: 'POST',
    path: '/workspaces/:id/hosted-access',
    tag: 'Workspaces',
    summary: 'Let this browser open what a workspace hosts, and tell where',
    needs: { permission: 'join-workspace', on: '/workspaces/:id' },
    params: z.object({ id: z.string() }),
    reply: HostedAccess,
    refusals: ['not_found', 'workspace_not_found'],
    async handle({ caller, params: { id }, request: { externalUrl } }) {
      await hosting.requireOffered(id)
      const { value, seconds } = await hosting.grant(id, caller)
      const path = hostedPath(externalUrl, id)
      const answer: HostedAccess = {
        url_prefix: new URL(path, externalUrl).href,
        expires_in: seconds,
        public: await hosting.isPublic(id),
        ports: (await hosting.addresses(id, caller, externalUrl)).map(({ hostPort, containerPort, url }) => ({
          port: hostPort,
          container_port: containerPort,
          url,
        })),
      }
      const cookie = hostedCookie({ value, path, seconds, secure: externalUrl.startsWith('https:') })
      return new Reply(answer, { headers: { 'set-cookie': cookie } })
    },
  }),
]
