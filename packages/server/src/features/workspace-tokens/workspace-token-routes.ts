import { WorkspaceTokenVerified } from '@svc/protocol/lifecycle'
import { Reply, type Route, route } from '../../kernel/route.ts'
import type { TokenProblem, WorkspaceTokens } from './workspace-tokens.ts'

const SENTENCES: Record<TokenProblem, string> = {
  missing: 'Missing token',
  expired: 'Workspace token expired',
  invalid: 'Invalid workspace token',
}

export const workspaceTokenRoutes = (tokens: WorkspaceTokens): Route[] => [
  route({
    method: 'GET',
    path: '/auth/verify-workspace-token',
    tag: 'Workspaces',
    summary: 'Whether a token belongs to the present container of a workspace',
    needs: 'anyone, judged by token',
    reply: WorkspaceTokenVerified,
    refusals: ['not_authenticated'],
    handle: async ({ request }) => {
      const result = await tokens.check(request.bearerToken)
      return 'problem' in result
        ? refused(result.problem, request.id)
        : { status: 'ok' as const, workspace_id: result.workspaceId }
    },
  }),
]

/** The body every refusal has, with a header that tells programs what is wrong. */
function refused(problem: TokenProblem, requestId: string): Reply {
  const body = { detail: SENTENCES[problem], code: 'not_authenticated', request_id: requestId }
  return new Reply(body, { status: 401, headers: { 'x-token-error': problem, 'www-authenticate': 'Bearer' } })
}
