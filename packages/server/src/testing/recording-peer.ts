import type { Capability } from '@svc/protocol/ws/capabilities'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Peer } from '../kernel/peer.ts'
import { MemoryLog } from './memory-log.ts'

/** A socket without a network, for what cannot be forced over a real one: it keeps what it is sent. */
export function recordingPeer({ userId = 'u', caps = [] }: { userId?: string; caps?: readonly Capability[] } = {}) {
  const frames: ServerFrame[] = []
  const leaving = new AbortController()
  const peer: Peer = {
    id: crypto.randomUUID(),
    caller: { userId, email: `${userId}@example.com`, sessionId: 's', groupIds: new Set() },
    request: {
      id: '1',
      method: 'GET',
      path: '/ws',
      clientAddress: undefined,
      isFromThisMachine: true,
      userAgent: undefined,
      referer: undefined,
      origin: undefined,
      bearerToken: undefined,
      externalUrl: 'http://localhost',
      log: new MemoryLog(),
    },
    gone: leaving.signal,
    has: (capability) => caps.includes(capability),
    send(frame, sent) {
      frames.push(frame)
      sent?.()
    },
    sendBinary: (_, sent) => sent?.(),
    hold: () => () => undefined,
    close: () => leaving.abort(),
  }
  return { peer, frames, leave: () => leaving.abort() }
}
