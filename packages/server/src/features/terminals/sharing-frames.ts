import type { FrameRows } from '../../kernel/frame.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { LiveTerminals } from './live-terminals.ts'
import { agentRefusals } from './terminal-frames.ts'

type Commands =
  | 'share_window'
  | 'unshare_window'
  | 'join_shared_terminal'
  | 'leave_shared_terminal'
  | 'list_shared_terminals'
  | 'create_shared_terminal'
  | 'delete_shared_terminal'

/** The commands about terminals that more than one person sees. */
export const sharingFrames = (terminals: LiveTerminals): FrameRows<Attachment, Commands> => {
  const { sharing, shown } = terminals
  return {
    share_window: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'share-terminals',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(sharing.share(attachment, frame, asker)),
    },
    // Whoever may no longer share may still take back what they shared.
    unshare_window: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'nothing',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(sharing.unshare(attachment, frame, asker)),
    },
    join_shared_terminal: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'spectate-on-shared-terminals',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(sharing.join(attachment, frame, asker)),
    },
    leave_shared_terminal: {
      scope: 'connection',
      lane: 'terminal',
      handle: ({ peer }) => shown.stop(peer, { only: 'joined' }),
    },
    list_shared_terminals: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'spectate-on-shared-terminals',
      handle: ({ attachment, ...asker }) => agentRefusals(sharing.list(attachment, asker)),
    },
    create_shared_terminal: {
      scope: 'workspace',
      lane: 'terminal',
      // It is a window of one's own, and shared.
      needs: { allOf: ['code-in-isolation', 'share-terminals'] },
      handle: ({ attachment, frame, ...asker }) => agentRefusals(sharing.create(attachment, frame, asker)),
    },
    delete_shared_terminal: {
      scope: 'workspace',
      lane: 'terminal',
      needs: 'share-terminals',
      handle: ({ attachment, frame, ...asker }) => agentRefusals(sharing.delete(attachment, frame, asker)),
    },
  }
}
