import type { Permission } from '@svc/protocol/permissions'

export type Principal =
  | { readonly kind: 'everyone' }
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'group'; readonly id: string }

/** One access-control entry, as decisions read it. */
export interface AclEntry {
  readonly action: 'allow' | 'deny'
  readonly principal: Principal
  readonly permission: Permission
}

/** Whom a decision is about: a signed-in person and the groups they are in. */
export interface Subject {
  readonly userId: string
  readonly groupIds: ReadonlySet<string>
}
