import { sshAgentSocket } from '@svc/protocol/agent/requests'

/** Somebody in a workspace. */
export interface WorkspaceUser {
  readonly userId: string
  readonly handle: string
  readonly userHome: string
}

/** What every program that somebody starts in a workspace finds in its environment about them. */
export const userEnv = ({ userId, handle, userHome }: WorkspaceUser): Record<string, string> => ({
  HOME: userHome,
  SVCWS_USER_ID: userId,
  SVCWS_USER_HANDLE: handle,
  // Always: nobody listens there until an agent is forwarded, which may be long after this program began.
  SSH_AUTH_SOCK: sshAgentSocket(userId),
})
