import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import { expect, test } from 'vitest'
import { Announcer } from '../../kernel/announcer.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { recordingPeer } from '../../testing/recording-peer.ts'
import type { LifecycleNews } from '../lifecycle/lifecycle-news.ts'
import { Attachment } from './attachment.ts'
import { OpenWorkspaces } from './open-workspaces.ts'
import { StatusFrames } from './status-frames.ts'

type Answer = PromiseWithResolvers<boolean>

/** One person who has the workspace open; each question for their rights waits until it is answered. */
function statusFrames() {
  const open = new OpenWorkspaces()
  const news = new Announcer<LifecycleNews>()
  const log = new MemoryLog()
  const { peer, frames } = recordingPeer()
  const asked: Answer[] = []
  const status = new StatusFrames({
    open,
    peers: { all: () => [peer], of: () => [peer] },
    lifecycle: { news, find: () => undefined },
    rights: {
      allows() {
        const answer: Answer = Promise.withResolvers()
        asked.push(answer)
        return answer.promise
      },
    },
    log,
  })
  status.begin()
  const leaving = new AbortController()
  const attachment = new Attachment({
    peer,
    workspaceId: 'w',
    userHome: '/home/svc',
    left: leaving.signal,
    find: () => undefined,
    failed: () => undefined,
  })
  return { open, news, log, status, frames, asked, attachment, leave: () => leaving.abort() }
}

const started = { kind: 'started', workspaceId: 'w', cause: 'api', serviceStartedAt: null } as const
const stopping = { kind: 'stopping', workspaceId: 'w', cause: 'stop', reason: 'r' } as const
const stopped = { kind: 'stopped', workspaceId: 'w', cause: 'stop', reason: 'r' } as const

const short = (frame: ServerFrame) => (frame.type === 'event' ? frame.event.name : frame.type)
/** Until everything that does not wait has happened. */
const turn = () => new Promise(setImmediate)

test('what is said of a workspace is said in order, however long the rights take', async () => {
  const { open, news, status, frames, asked, attachment } = statusFrames()
  open.add(attachment)
  news.announce(started)
  news.announce(stopping)
  news.announce(stopped)
  await turn()
  expect([frames, asked.length]).toEqual([[], 1])
  asked[0]?.resolve(true)
  await expect.poll(() => asked).toHaveLength(2)
  expect(frames.map(short)).toEqual(['container_status', 'container_ready'])
  asked[1]?.resolve(true)
  await status.settled()
  expect(frames.map(short)).toEqual(['container_status', 'container_ready', 'container_status', 'container_stopped'])
})

test('one workspace does not wait for another', async () => {
  const { news, frames, asked } = statusFrames()
  news.announce(started)
  news.announce({ ...started, workspaceId: 'other' })
  await expect.poll(() => asked).toHaveLength(2)
  asked[1]?.resolve(true)
  await expect.poll(() => frames).toMatchObject([{ workspace_id: 'other' }])
})

test('who opens a workspace after its start is not told of that start, and who left is told nothing', async () => {
  const { open, news, status, frames, asked, attachment, leave } = statusFrames()
  news.announce(started)
  open.add(attachment)
  await turn()
  asked[0]?.resolve(false)
  await status.settled()
  expect(frames).toEqual([])
  news.announce(stopped)
  leave()
  await status.settled()
  expect(frames).toEqual([])
})

test('rights that cannot be read hold up nothing that comes after', async () => {
  const { open, news, log, status, frames, asked, attachment } = statusFrames()
  open.add(attachment)
  news.announce(stopping)
  news.announce(stopped)
  await turn()
  asked[0]?.reject(new Error('no database'))
  await status.settled()
  expect([frames.map(short), log.records.length]).toEqual([['container_stopped'], 1])
})
