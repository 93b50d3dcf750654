/** Something that happened to identities, privileges or the server itself, as it is kept for auditors. */
export interface AuditEntry {
  readonly event: 'app.start' | 'app.stop' | 'app.reload'
  readonly targetType: 'app'
  readonly targetId: string
  /** Never a password or a token. */
  readonly detail: Readonly<Record<string, unknown>>
}
