import { PassThrough, Readable } from 'node:stream'
import { INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { joinedChannel } from '../testing/joined-channel.ts'
import { OutputPump } from './output-pump.ts'

const PIECE_BYTES = 64 * 1024

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] }))
afterEach(() => void vi.useRealTimers())

/** A command's output, moved to somebody who takes nothing but what the test says. */
async function pumpToReader(output: Readable) {
  let received = 0
  const { ofAgent, ofServer } = joinedChannel({
    data: (bytes) => {
      received += bytes.length
    },
  })
  const pump = new OutputPump(await ofAgent, [[output, 'data']])
  return { pump, received: () => received, take: (bytes: number) => ofServer.consumed(bytes) }
}

test('a reader who is slow gets what the command wrote before it ended, however long that takes', async () => {
  const pieces = Array.from({ length: 7 }, () => Buffer.alloc(PIECE_BYTES))
  const output = Readable.from(pieces, { objectMode: false, highWaterMark: PIECE_BYTES })
  const { pump, received, take } = await pumpToReader(output)
  await vi.waitFor(() => expect(received()).toBe(INITIAL_CREDIT))
  const finished = pump.finish()
  await vi.advanceTimersByTimeAsync(60_000)
  take(INITIAL_CREDIT)
  await finished
  await vi.waitFor(() => expect(received()).toBe(7 * PIECE_BYTES))
})

test('a child that lives on and keeps the output open keeps nobody waiting', async () => {
  const output = new PassThrough()
  const { pump, received } = await pumpToReader(output)
  output.write(Buffer.alloc(1000))
  await vi.waitFor(() => expect(received()).toBe(1000))
  const finished = pump.finish()
  await vi.advanceTimersByTimeAsync(60_000)
  await finished
  expect(output.destroyed).toBe(true)
})
