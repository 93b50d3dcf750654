import type { AuditEntry } from '../audit/audit-entry.ts'

/** A row of the audit trail about a workspace. */
export function aboutWorkspace(
  event: AuditEntry['event'],
  workspaceId: string,
  detail: AuditEntry['detail'],
): AuditEntry {
  return { event, targetType: 'workspace', targetId: workspaceId, detail }
}
