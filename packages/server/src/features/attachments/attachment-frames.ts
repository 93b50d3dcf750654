import type { SharedTerminal } from '@svc/protocol/ws/server-frames'
import type { FrameRows } from '../../kernel/frame.ts'
import type { Attachment } from './attachment.ts'
import type { Attachments } from './attachments.ts'
import type { HealthHeartbeats } from './health-heartbeats.ts'
import type { Welcome } from './welcome.ts'
import type { WorkspaceRestart } from './workspace-restart.ts'

type Commands =
  | 'workspace_connect'
  | 'workspace_disconnect'
  | 'ui_ready'
  | 'restart_container'
  | 'heartbeat'
  | 'subscribe_health_heartbeat'

interface AttachmentFramesParts {
  readonly attachments: Attachments
  readonly welcome: Welcome
  readonly restart: WorkspaceRestart
  readonly heartbeats: HealthHeartbeats
  /** What others let this person watch. */
  readonly sharedTerminals: (attachment: Attachment) => readonly SharedTerminal[] | Promise<readonly SharedTerminal[]>
}

/** The commands of a socket about the workspace it has open. */
export const attachmentFrames = (parts: AttachmentFramesParts): FrameRows<Attachment, Commands> => {
  const { attachments, welcome, restart, heartbeats, sharedTerminals } = parts
  return {
    workspace_connect: {
      scope: 'named workspace',
      lane: 'workspace',
      needs: 'join-workspace',
      refusal: 'forbidden',
      workspaceIn: (frame) => frame.workspaceId,
      handle: async ({ peer, frame, reply }) => reply(await welcome.connect(peer, frame.workspaceId)),
    },
    workspace_disconnect: {
      scope: 'connection',
      lane: 'workspace',
      handle: ({ peer }) => attachments.disconnect(peer),
    },
    ui_ready: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'nothing',
      async handle({ attachment, reply }) {
        welcome.pageIsThere(attachment)
        reply({ type: 'shared_terminals', terminals: await sharedTerminals(attachment) })
      },
    },
    restart_container: {
      scope: 'workspace',
      lane: 'workspace',
      needs: 'restart-workspace',
      refusal: 'forbidden',
      handle: ({ attachment }) => restart.restart(attachment),
    },
    heartbeat: {
      scope: 'connection',
      lane: 'free',
      handle: ({ peer }) => attachments.find(peer)?.touch(),
    },
    subscribe_health_heartbeat: {
      scope: 'connection',
      lane: 'free',
      handle: ({ peer, frame }) => heartbeats.subscribe(peer, frame.enabled),
    },
  }
}
