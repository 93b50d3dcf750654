import { MAX_INPUT_LENGTH } from '@svc/protocol/ws/client-frames'
import type { BinaryRow, FrameRows } from '../../kernel/frame.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { agentRefusal } from './agent-refusal.ts'
import type { LiveTerminals } from './live-terminals.ts'

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

/** The commands about one's own terminals, and about whatever terminal is shown. */
export const terminalFrames = (terminals: LiveTerminals): FrameRows<Attachment, Commands> => {
  const { own, shown } = terminals
  return {
    terminal_start: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'code-in-isolation',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(own.start(attachment, frame, asker)),
    },
    terminal_input: {
      scope: 'connection',
      lane: 'terminal',
      handle({ peer, frame: { data, channel }, isAwaited }) {
        if (data.length > MAX_INPUT_LENGTH) throw new FrameError('too_large', 'That is more than can be typed at once')
        shown.input(peer, Buffer.from(data), { channel, isAwaited })
      },
    },
    terminal_resize: {
      scope: 'connection',
      lane: 'terminal',
      handle: ({ peer, frame }) => shown.resize(peer, frame),
    },
    terminal_stop: { scope: 'connection', lane: 'terminal', handle: ({ peer }) => shown.stop(peer) },
    terminal_ack: {
      scope: 'connection',
      lane: 'free',
      handle: ({ peer, frame }) => shown.acknowledge(peer, frame),
    },
    terminal_new_window: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'code-in-isolation',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(own.create(attachment, frame, asker)),
    },
    terminal_select_window: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'code-in-isolation',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(own.select(attachment, frame, asker)),
    },
    terminal_close_window: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'code-in-isolation',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(own.close(attachment, frame, asker)),
    },
    terminal_rename_window: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'code-in-isolation',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(own.rename(attachment, frame, asker)),
    },
    terminal_list_windows: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'code-in-isolation',
      handle: ({ attachment, ...asker }) => agentRefusals(own.list(attachment, asker)),
    },
  }
}

/** What somebody with `bin` types. */
export const terminalInput = ({ shown }: LiveTerminals): BinaryRow<Attachment> => ({
  lane: 'terminal',
  handle: ({ peer, frame: { channel, payload } }) => shown.input(peer, payload, { channel, isAwaited: false }),
})

export const agentRefusals = (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => Promise.reject(agentRefusal(error)))
