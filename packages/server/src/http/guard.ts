import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../kernel/app-error.ts'
import type { Access, Caller, Need, RequestFacts } from '../kernel/route.ts'
import type { EdgeSettings } from './edge-settings.ts'

/** The sign-in check and the permission check, handed in by the composition root. */
export interface Guard {
  /**
   * The caller behind the request's credentials, or null when it carries none. Throws `not_authenticated` for bad ones;
   * on routes where signing in is `optional` a merely worn-out session counts as none.
   */
  identify(headers: IncomingHttpHeaders, request: RequestFacts, signIn: 'required' | 'optional'): Promise<Caller | null>
  /** Throws `permission_denied` or `step_up_required` unless the caller may. */
  authorize(caller: Caller, need: Need, request: RequestFacts): Promise<void>
}

/** Applies a route's access rule. Every request passes here before its input is looked at. */
export async function admit(
  needs: Access,
  input: { headers: IncomingHttpHeaders; params: Readonly<Record<string, string>>; request: RequestFacts },
  { guard, settings }: { guard: Guard; settings: () => EdgeSettings },
): Promise<Caller | null> {
  if (needs === 'anyone') return null
  if (needs === 'operator') {
    requireOperator(input.headers, input.request, settings())
    return null
  }
  if (needs === 'anyone, better signed in') return guard.identify(input.headers, input.request, 'optional')
  const caller = await guard.identify(input.headers, input.request, 'required')
  if (!caller) throw new AppError('not_authenticated', 'Not authenticated')
  if (needs !== 'signed in') await guard.authorize(caller, onResource(needs, input.params), input.request)
  return caller
}

/** `/workspaces/:id` with the id of this request. An id that would be a path of its own is nobody's. */
function onResource(need: Need, params: Readonly<Record<string, string>>): Need {
  if (!need.on.includes(':')) return need
  const on = need.on.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name] ?? ''
    if (value === '' || value === '.' || value === '..' || value.includes('/')) {
      throw new AppError('not_found', 'Not Found')
    }
    return value
  })
  return { permission: need.permission, on: on as Need['on'] }
}

function requireOperator(headers: IncomingHttpHeaders, request: RequestFacts, settings: EdgeSettings): void {
  if (request.isFromThisMachine) return
  const sent = /^bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  const expected = settings.metricsToken?.reveal()
  if (sent !== undefined && expected !== undefined && sameSecret(sent, expected)) return
  throw new AppError('permission_denied', 'Only the machine itself, or the bearer of the operator token, may read this')
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
