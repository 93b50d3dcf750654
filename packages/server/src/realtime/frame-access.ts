import type { Permission } from '@svc/protocol/permissions'
import { type FrameNeed, type FrameRefusal, permissionsNamed } from '../kernel/frame.ts'
import { actionDenied, FrameError, workspaceDenied } from '../kernel/frame-error.ts'
import type { Caller } from '../kernel/route.ts'

type Verdict = boolean | Promise<boolean>

export type Allows = (caller: Caller, permission: Permission, resource: `/${string}`) => Verdict

/** Whether a command about a workspace is the caller's to give. Without a promise where memory knows it. */
export function isAllowed(allows: Allows, caller: Caller, needs: FrameNeed, workspaceId: string): Verdict {
  if (needs === 'nothing') return true
  if (!isOneName(workspaceId)) return false
  const resource = `/workspaces/${workspaceId}` as const
  if (typeof needs === 'string') return allows(caller, needs, resource)
  return several(needs, (permission) => allows(caller, permission, resource))
}

export function denied(refusal: FrameRefusal): FrameError {
  if (refusal === 'forbidden') return workspaceDenied()
  return refusal === 'action' ? actionDenied() : new FrameError(undefined, refusal.message)
}

async function several(
  needs: Exclude<FrameNeed, string>,
  holds: (permission: Permission) => Verdict,
): Promise<boolean> {
  const verdicts = await Promise.all(permissionsNamed(needs).map(holds))
  return 'anyOf' in needs ? verdicts.includes(true) : !verdicts.includes(false)
}

/** An id that would be a path of its own, or that no database takes, is nobody's. */
const isOneName = (id: string): boolean => id !== '' && id !== '.' && id !== '..' && !/[/\\\p{Cc}\p{Cs}]/u.test(id)
