import type { AuditEventName } from '@svc/protocol/audit-events'
import type { Caller, RequestFacts } from '../../kernel/route.ts'

/** Something that happened to identities, privileges or the server itself, as it is kept for auditors. */
export interface AuditEntry {
  readonly event: AuditEventName
  readonly targetType: 'app' | 'user' | 'session' | 'group' | 'acl' | 'invitation' | 'workspace' | 'volume'
  readonly targetId: string | null
  /** Never a password or a token. */
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** Who is behind a change, and the request by which it reached us. */
export interface Origin {
  /** Null when nobody is signed in. */
  readonly actor: Pick<Caller, 'userId' | 'email'> | null
  readonly request: Pick<RequestFacts, 'clientAddress' | 'userAgent' | 'method' | 'referer'> | null
}

/** What the server does by itself. */
export const BY_ITSELF: Origin = { actor: null, request: null }

/** An entry as it was kept. Names are texts: a later program may read what an older one wrote. */
export interface AuditRecord {
  readonly id: number
  readonly event: string
  readonly actorId: string | null
  readonly actorEmail: string | null
  readonly targetType: string | null
  readonly targetId: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
  readonly sourceIp: string | null
  readonly userAgent: string | null
  readonly method: string | null
  readonly referer: string | null
  /** Epoch seconds with fractions. */
  readonly createdAt: number
}

/** Parts of texts that must occur, whatever the case of ASCII letters. An empty one asks for nothing. */
export interface AuditFilter {
  readonly event: string | undefined
  /** In the id or the email. */
  readonly actor: string | undefined
  /** In the id. */
  readonly target: string | undefined
}
