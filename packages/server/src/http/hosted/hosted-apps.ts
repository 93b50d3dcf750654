/** Who may use which application, handed in by the composition root. */
export interface HostedApps {
  /** False: nothing is hosted on this server, and there is nothing at these addresses. */
  isOffered(): boolean
  /** Whoever gets an answer may go on; call its `end` when the exchange is over. Throws `AppError` for everybody else. */
  admit(visit: HostedVisit): Promise<HostedApp>
  /** Gives what the cookie is to hold in exchange for an entry code of this workspace; undefined when it is not good. */
  enter(workspaceId: string, code: string): Promise<{ value: string; seconds: number } | undefined>
}

export interface HostedVisit {
  readonly workspaceId: string
  readonly hostPort: number
  /** Tokens that came with the request, ours or those of an application. */
  readonly tokens: readonly string[]
  /** Values of our cookie. */
  readonly cookies: readonly string[]
}

/** An application that somebody may use, for one exchange. */
export interface HostedApp {
  /** As the programs in the workspace know it. */
  readonly containerPort: number
  /** Nobody has to show anything. */
  readonly isPublic: boolean
  /** Those of the visit's tokens that are ours: no application may see them. */
  readonly ownTokens: ReadonlySet<string>
  /** Aborted when the visitor may no longer use it. */
  readonly revoked: AbortSignal
  /** Somebody uses it. */
  touch(): void
  /** With this the same visitor gets in on another host. Undefined where nobody has to show anything. */
  entryCode(): Promise<string | undefined>
  end(): void
}
