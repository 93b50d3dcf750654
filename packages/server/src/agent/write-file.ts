import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentError, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import type { AskOptions } from './ask.ts'
import { OutboundStream } from './outbound-stream.ts'

/** See `AgentFiles.write`. */
export async function writeFile(
  link: AgentLink,
  path: string,
  content: AsyncIterable<Uint8Array> | Readable,
  { signal }: AskOptions = {},
): Promise<{ size: number }> {
  const answered = Promise.withResolvers<number>()
  answered.promise.catch(() => {})
  let size: number | undefined
  const call = link.call(
    { op: 'files.write', path },
    {
      message: (message) => {
        // Not before it had everything.
        if (message.type === 'written' && size === undefined && target.writableFinished) size = message.size
        else call.fail()
      },
      closed: (error) => {
        if (!error && size !== undefined) return answered.resolve(size)
        answered.reject(error ?? unanswered())
        target.destroy(error ?? unanswered())
      },
    },
  )
  const target = new OutboundStream(() => call)
  const giveUp = () => answered.reject(signal?.reason)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    let sentBytes = 0
    const count = async function* (source: AsyncIterable<Uint8Array>) {
      for await (const bytes of source) {
        sentBytes += bytes.length
        yield bytes
      }
    }
    await pipeline(content, count, target, signal ? { signal } : {})
    if ((await answered.promise) !== sentBytes) throw new AgentError('failed', 'The file was not written as a whole')
    return { size: sentBytes }
  } catch (error) {
    // Without `end` before it: the agent leaves nothing.
    call.close()
    throw signal?.aborted ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
