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
  | 'share_window'
  | 'unshare_window'
  | 'join_shared_terminal'
  | 'leave_shared_terminal'
  | 'list_shared_terminals'
  | 'create_shared_terminal'
  | 'delete_shared_terminal'

export const sharingFrames = (): FrameRows<Attachment, Commands> => ({
  share_window: notBuilt,
  unshare_window: notBuilt,
  join_shared_terminal: notBuilt,
  leave_shared_terminal: notBuilt,
  list_shared_terminals: notBuilt,
  create_shared_terminal: notBuilt,
  delete_shared_terminal: notBuilt,
})
