import type { Storage } from '../../storage/storage.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { aboutWorkspace } from '../workspaces/workspace-audit.ts'

/** What the trail says of a file. */
export interface FileDetail {
  readonly path: string
  /** In bytes; not known of directories. */
  readonly size?: number
  /** Where it was before. */
  readonly from?: string
  /** Set when it failed, and may have been done in part. */
  readonly incomplete?: true
  /** Set when the bytes went out as text. */
  readonly via?: 'content'
}

/** The rows of the audit trail about files. What a row cannot be written for is not acknowledged. */
export class FileTrail {
  readonly #storage: Storage
  readonly #audit: Pick<AuditLog, 'record'>

  constructor(parts: { storage: Storage; audit: Pick<AuditLog, 'record'> }) {
    this.#storage = parts.storage
    this.#audit = parts.audit
  }

  async record(
    origin: Origin,
    event: 'file.download' | 'file.write' | 'file.delete',
    workspaceId: string,
    detail: FileDetail,
  ): Promise<void> {
    const entry = aboutWorkspace(event, workspaceId, { ...detail })
    await this.#storage.transaction((tx) => this.#audit.record(tx, origin, entry))
  }
}
