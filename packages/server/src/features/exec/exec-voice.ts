import { toBase64 } from '../../kernel/frame-bytes.ts'
import type { Peer } from '../../kernel/peer.ts'

export type OutputStream = 'stdout' | 'stderr'

/** How a command came to its end, for its client. */
export interface ExecExit {
  readonly code: number
  /** `KILL`, when one ended it. */
  readonly signal?: string
}

/** How a command speaks to its client. */
export interface ExecVoice {
  /** `sent` is called when the network has the bytes, or the client is gone. */
  output(stream: OutputStream, bytes: Uint8Array, sent: () => void): void
  exit(exit: ExecExit): void
}

/** For clients that have one command at a time: their protocol knows neither ids nor standard error. */
export const plainVoice = (peer: Peer): ExecVoice => ({
  output: (_, bytes, sent) => peer.send({ type: 'exec_output', data: toBase64(bytes) }, sent),
  exit: ({ code }) => peer.send({ type: 'exec_exit', code }),
})

export function namedVoice(peer: Peer, { execId, channel }: { execId: string; channel: number }): ExecVoice {
  return {
    output: peer.has('bin') ? binaryOutput(peer, channel) : textOutput(peer, execId),
    exit: ({ code, signal }) =>
      peer.send({ type: 'exec_exit', exec_id: execId, code, ...(signal === undefined ? {} : { signal }) }),
  }
}

function textOutput(peer: Peer, execId: string): ExecVoice['output'] {
  return (stream, bytes, sent) =>
    peer.send({ type: 'exec_output', exec_id: execId, stream, data: toBase64(bytes) }, sent)
}

function binaryOutput(peer: Peer, channel: number): ExecVoice['output'] {
  const offsets = { stdout: 0, stderr: 0 }
  return (stream, payload, sent) => {
    const offset = offsets[stream]
    offsets[stream] += payload.length
    peer.sendBinary({ kind: stream === 'stdout' ? 'execStdout' : 'execStderr', channel, offset, payload }, sent)
  }
}
