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
  | 'terminal_start'
  | 'terminal_input'
  | 'terminal_resize'
  | 'terminal_stop'
  | 'terminal_ack'
  | 'terminal_new_window'
  | 'terminal_select_window'
  | 'terminal_close_window'
  | 'terminal_rename_window'
  | 'terminal_list_windows'

export const terminalFrames = (): FrameRows<Attachment, Commands> => ({
  terminal_start: notBuilt,
  terminal_input: notBuilt,
  terminal_resize: notBuilt,
  terminal_stop: notBuilt,
  terminal_ack: notBuilt,
  terminal_new_window: notBuilt,
  terminal_select_window: notBuilt,
  terminal_close_window: notBuilt,
  terminal_rename_window: notBuilt,
  terminal_list_windows: notBuilt,
})
