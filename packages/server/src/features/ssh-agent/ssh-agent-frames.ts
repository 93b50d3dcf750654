import type { BinaryRow, FrameRows } from '../../kernel/frame.ts'
import { bytesFromBase64 } from '../../kernel/frame-bytes.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { MAX_MESSAGE_BYTES } from './agent-messages.ts'
import type { AgentPipe } from './agent-pipe.ts'
import { FORWARDING_PERMISSIONS, type SshRelays } from './ssh-relays.ts'

type Commands = 'ssh_agent_start' | 'ssh_agent_data' | 'ssh_agent_close' | 'ssh_agent_stop'

/** A whole message with its length. No client needs to send more at once. */
const MAX_DATA_BYTES = MAX_MESSAGE_BYTES + 4

export const sshAgentFrames = (relays: SshRelays): FrameRows<Attachment, Commands> => ({
  ssh_agent_start: {
    scope: 'workspace',
    lane: 'ssh',
    needs: { anyOf: FORWARDING_PERMISSIONS },
    handle: async ({ attachment, reply }) =>
      reply({ type: 'ssh_agent_started', socket: await relays.start(attachment) }),
  },
  ssh_agent_data: {
    scope: 'connection',
    lane: 'ssh',
    handle({ peer, frame }) {
      const bytes = bytesFromBase64(frame.data, { maxBytes: MAX_DATA_BYTES })
      requirePipe(relays, peer).answered(frame.conn, bytes)
    },
  },
  ssh_agent_close: {
    scope: 'connection',
    lane: 'ssh',
    handle: ({ peer, frame }) => requirePipe(relays, peer).closed(frame.conn),
  },
  ssh_agent_stop: {
    scope: 'connection',
    lane: 'ssh',
    handle({ peer, reply }) {
      relays.stop(peer)
      reply({ type: 'ssh_agent_stopped' })
    },
  },
})

export const sshAgentBinary = (relays: SshRelays): BinaryRow<Attachment> => ({
  lane: 'ssh',
  handle({ peer, frame: { channel, payload } }) {
    if (payload.length > MAX_DATA_BYTES) throw new FrameError('too_large', `More than ${MAX_DATA_BYTES} bytes at once`)
    requirePipe(relays, peer).answered(channel, payload)
  },
})

function requirePipe(relays: SshRelays, peer: Peer): AgentPipe {
  const pipe = relays.findPipe(peer)
  if (!pipe) throw new FrameError('conflict', 'No ssh agent is forwarded: start it first')
  return pipe
}
