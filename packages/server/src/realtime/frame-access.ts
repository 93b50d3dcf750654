import type { Permission } from '@svc/protocol/permissions'
import type { FrameNeed, FrameRefusal } from '../kernel/frame.ts'
import { FrameError } from '../kernel/frame-error.ts'
import type { Caller } from '../kernel/route.ts'
import { PERMISSION_DENIED } from './error-frame.ts'

type Verdict = boolean | Promise<boolean>

export type Allows = (caller: Caller, permission: Permission, resource: `/${string}`) => Verdict

/** Whether a command about a workspace is the caller's to give. Without a promise where memory knows it. */
export function isAllowed(allows: Allows, caller: Caller, needs: FrameNeed, workspaceId: string): Verdict {
  if (needs === 'nothing') return true
  if (!isOneName(workspaceId)) return false
  const resource = `/workspaces/${workspaceId}` as const
  if (typeof needs === 'string') return allows(caller, needs, resource)
  return anyOf(needs.anyOf.map((permission) => allows(caller, permission, resource)))
}

export function denied(refusal: FrameRefusal): FrameError {
  if (refusal === 'forbidden') return new FrameError('forbidden', PERMISSION_DENIED)
  return new FrameError(undefined, refusal === 'action' ? PERMISSION_DENIED : refusal.message)
}

async function anyOf(verdicts: readonly Verdict[]): Promise<boolean> {
  return (await Promise.all(verdicts)).includes(true)
}

/** An id that would be a path of its own, or that no database takes, is nobody's. */
const isOneName = (id: string): boolean => id !== '' && id !== '.' && id !== '..' && !/[/\\\p{Cc}\p{Cs}]/u.test(id)
