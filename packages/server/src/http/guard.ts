import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../kernel/app-error.ts'
import {
  type Access,
  type Caller,
  type Need,
  type Needs,
  needsNamed,
  type RequestFacts,
  type SignIn,
} from '../kernel/route.ts'
import type { EdgeSettings } from './edge-settings.ts'

/** The sign-in check and the permission check, handed in by the composition root. */
export interface Guard {
  /**
   * The caller behind the request's token, or null when it carries none. Throws `not_authenticated` for a bad one, and
   * what else keeps its owner out; where signing in is `optional` a merely worn-out token counts as none.
   */
  identify(request: RequestFacts, signIn: SignIn): Promise<Caller | null>
  /** Throws `permission_denied` or `step_up_required` unless the caller may. */
  authorize(caller: Caller, need: Need, request: RequestFacts): Promise<void>
}

/** Applies a route's access rule. Every request passes here before its input is looked at. */
export async function admit(
  needs: Access,
  input: { params: Readonly<Record<string, string>>; request: RequestFacts },
  { guard, settings }: { guard: Guard; settings: () => EdgeSettings },
): Promise<Caller | null> {
  const { request } = input
  switch (needs) {
    case 'anyone':
    case 'anyone, judged by token':
      return null
    case 'operator':
      requireOperator(request, settings())
      return null
    case 'anyone, better signed in':
      return guard.identify(request, 'optional')
    case 'signed in':
      return signedIn(await guard.identify(request, 'required'))
    case 'signed in, password change due':
      return signedIn(await guard.identify(request, 'required, password change due'))
    default: {
      const caller = signedIn(await guard.identify(request, 'required'))
      await authorize(guard, caller, needs, input)
      return caller
    }
  }
}

/** For any one of several the last refusal counts: they all say the same. */
async function authorize(
  guard: Guard,
  caller: Caller,
  needs: Need | Needs,
  { params, request }: { params: Readonly<Record<string, string>>; request: RequestFacts },
): Promise<void> {
  const enoughIsOne = 'anyOf' in needs
  let refusal: unknown
  for (const need of needsNamed(needs)) {
    try {
      await guard.authorize(caller, onResource(need, params), request)
      if (enoughIsOne) return
    } catch (error) {
      if (!enoughIsOne || !isRefusal(error)) throw error
      refusal = error
    }
  }
  if (enoughIsOne) throw refusal
}

const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code === 'permission_denied'

function signedIn(caller: Caller | null): Caller {
  if (!caller) throw new AppError('not_authenticated', 'Not authenticated')
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

function requireOperator(request: RequestFacts, settings: EdgeSettings): void {
  if (request.isFromThisMachine) return
  const sent = request.bearerToken
  const expected = settings.metricsToken?.reveal()
  if (sent !== undefined && expected !== undefined && sameSecret(sent, expected)) return
  throw new AppError('permission_denied', 'Only the machine itself, or the bearer of the operator token, may read this')
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
