import type { BinaryFrame } from '@svc/protocol/ws/binary-frames'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import { toBase64 } from '../../kernel/frame-bytes.ts'
import type { Peer } from '../../kernel/peer.ts'

/** So that no connection holds the line of its client for long. */
const PIECE_BYTES = 64 * 1024
/** Of clients without `ssh2`, which know of one connection only. */
const ONLY_CHANNEL = 0

/** Sends a client what a program asks of its agent. Resolves when the network has it: whoever waits has back-pressure. */
export function requestSender(peer: Peer, conn?: number): (bytes: Uint8Array) => Promise<void> {
  const send = peer.has('bin') ? binarySender(peer, conn ?? ONLY_CHANNEL) : textSender(peer, conn)
  return async (bytes) => {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) await send(bytes.subarray(at, at + PIECE_BYTES))
  }
}

function binarySender(peer: Peer, channel: number) {
  let offset = 0
  return (payload: Uint8Array) => {
    const frame: BinaryFrame = { kind: 'sshAgent', channel, offset, payload }
    offset += payload.length
    return new Promise<void>((sent) => peer.sendBinary(frame, sent))
  }
}

function textSender(peer: Peer, conn: number | undefined) {
  return (bytes: Uint8Array) => {
    const known = conn === undefined ? {} : { conn }
    const frame: ServerFrame = { type: 'ssh_agent_response', ...known, data: toBase64(bytes) }
    return new Promise<void>((sent) => peer.send(frame, sent))
  }
}
