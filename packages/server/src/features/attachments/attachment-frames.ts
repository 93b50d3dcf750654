import type { Command } from '@svc/protocol/ws/client-frames'
import type { FrameRow, FrameRows } from '../../kernel/frame.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Attachment } from '../attachments/attachment.ts'

const notBuilt: FrameRow<Attachment, Command> = {
  scope: 'connection',
  lane: 'free',
  handle() {
    throw new FrameError('invalid', 'Not built')
  },
}
type Commands =
  | 'workspace_connect'
  | 'workspace_disconnect'
  | 'ui_ready'
  | 'restart_container'
  | 'heartbeat'
  | 'subscribe_health_heartbeat'

export const attachmentFrames = (): FrameRows<Attachment, Commands> => ({
  workspace_connect: notBuilt,
  workspace_disconnect: notBuilt,
  ui_ready: notBuilt,
  restart_container: notBuilt,
  heartbeat: notBuilt,
  subscribe_health_heartbeat: notBuilt,
})
