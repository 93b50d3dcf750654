import { type Capability, FLOW_WINDOW_BYTES, isCapability } from '@svc/protocol/ws/capabilities'
import type { FrameRows } from '../kernel/frame.ts'
import { Connection } from './connection.ts'

/** At least so much output is kept for those who come back; the agent keeps more. */
const RING_BYTES = 256 * 1024

interface HelloParts {
  readonly identity: () => { readonly instance: string; readonly version: string }
  readonly maxMessageBytes: () => number
}

/** What a client can do is agreed on before anything else is said; see `Conversation`. */
export const helloFrames = ({ identity, maxMessageBytes }: HelloParts): FrameRows<never, 'hello'> => ({
  hello: {
    scope: 'connection',
    lane: 'free',
    handle({ peer, frame, reply }) {
      if (!(peer instanceof Connection)) throw new TypeError('a socket of another making')
      const caps: Capability[] = [...new Set(frame.caps.filter(isCapability))]
      peer.agreeOn(new Set(caps))
      const limits = { msg: maxMessageBytes(), ring: RING_BYTES, window: FLOW_WINDOW_BYTES }
      reply({ type: 'hello', v: 1, conn_id: peer.id, ...identity(), caps, limits })
    },
  },
})
