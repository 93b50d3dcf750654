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
type Commands = 'ssh_agent_start' | 'ssh_agent_data' | 'ssh_agent_close' | 'ssh_agent_stop'

export const sshAgentFrames = (): FrameRows<Attachment, Commands> => ({
  ssh_agent_start: notBuilt,
  ssh_agent_data: notBuilt,
  ssh_agent_close: notBuilt,
  ssh_agent_stop: notBuilt,
})
