import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentError, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import type { AskOptions } from './ask.ts'
import { OutboundStream } from './outbound-stream.ts'

export interface WriteOptions extends AskOptions {
  /** Told how much it is with each piece, before that is sent. When it throws, the file is not written. */
  readonly taking?: ((size: number) => void) | undefined
  /** Called when the agent has all of it, before the file takes its place; when it fails, the file does not. */
  readonly beforeKept?: ((size: number) => Promise<void>) | undefined
}

/** See `AgentFiles.write`. */
export async function writeFile(
  link: AgentLink,
  path: string,
  content: AsyncIterable<Uint8Array> | Readable,
  { signal, taking, beforeKept }: WriteOptions = {},
): Promise<{ size: number }> {
  const written = Promise.withResolvers<number>()
  const kept = Promise.withResolvers<void>()
  const fail = (reason: unknown) => {
    written.reject(reason)
    kept.reject(reason)
  }
  for (const { promise } of [written, kept]) promise.catch(() => {})
  let isWritten = false
  let isKept = false
  const call = link.call(
    { op: 'files.write', path },
    {
      message: (message) => {
        // Not before it had everything.
        if (message.type !== 'written' || isWritten || !target.writableFinished) return call.fail()
        isWritten = true
        written.resolve(message.size)
      },
      closed: (error) => {
        if (!error && isKept) return kept.resolve()
        fail(error ?? unanswered())
        target.destroy(error ?? unanswered())
      },
    },
  )
  const target = new OutboundStream(() => call, taking)
  const giveUp = () => fail(signal?.reason)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    await pipeline(content, target, signal ? { signal } : {})
    const size = target.bytesWritten
    if ((await written.promise) !== size) throw new AgentError('failed', 'The file was not written as a whole')
    await beforeKept?.(size)
    isKept = true
    call.message({ type: 'keep' })
    await kept.promise
    return { size }
  } catch (error) {
    // Without `keep` before it: the agent leaves nothing.
    call.close()
    throw signal?.aborted ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
