import type { BinaryFrame } from '@svc/protocol/ws/binary-frames'
import type { Capability } from '@svc/protocol/ws/capabilities'
import type { CloseCode } from '@svc/protocol/ws/close-codes'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Caller, RequestFacts } from './route.ts'

/** One person's open socket, as the features see it. */
export interface Peer {
  readonly id: string
  /** As they are now: somebody's groups may change while a socket is open. */
  readonly caller: Caller
  /** Of the handshake. */
  readonly request: RequestFacts
  /** Aborted once, when the socket is gone for whatever reason. */
  readonly gone: AbortSignal
  has(capability: Capability): boolean
  /** Never dropped, in order. `sent` is called when the network has it, or the socket is gone: wait for it with bulk. */
  send(frame: ServerFrame, sent?: () => void): void
  sendBinary(frame: BinaryFrame, sent?: () => void): void
  /**
   * Counts bytes that the client sent and that wait for somebody slow. Above a limit nothing more is read from this
   * client. The answer takes them off again, once.
   */
  hold(bytes: number): () => void
  close(code: CloseCode, reason: string): void
}

/** Everybody who has a socket open. */
export interface Peers {
  all(): Iterable<Peer>
  of(userId: string): Iterable<Peer>
}
