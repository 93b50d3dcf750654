import type { SshConnection } from '../../agent/ssh-connection.ts'

/** How programs in the workspace and the agent of a client come together. There is one kind for each kind of client. */
export interface AgentPipe {
  /** A program has connected. */
  connected(accept: () => SshConnection): void
  /** The agent of the client has answered. `conn` says which connection, where there are several. */
  answered(conn: number | undefined, bytes: Uint8Array): void
  /** The client has ended a connection. */
  closed(conn: number): void
  /** The agent is no longer forwarded, and all connections are being ended. The client is told no more of them. */
  end(): void
}
