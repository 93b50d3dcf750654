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
type Commands = 'exec_start' | 'exec_input' | 'exec_close_stdin' | 'exec_signal' | 'exec_stop'

export const execFrames = (): FrameRows<Attachment, Commands> => ({
  exec_start: notBuilt,
  exec_input: notBuilt,
  exec_close_stdin: notBuilt,
  exec_signal: notBuilt,
  exec_stop: notBuilt,
})
