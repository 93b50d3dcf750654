import type { FrameErrorCode } from '@svc/protocol/ws/server-frames'
import { expect, test } from 'vitest'
import { Announcer } from '../../kernel/announcer.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { recordingPeer } from '../../testing/recording-peer.ts'
import type { ResourcePath } from '../acl/resource-path.ts'
import type { WorkspaceNews } from '../workspaces/workspaces.ts'
import { Attachment } from './attachment.ts'
import { OpenWorkspaces } from './open-workspaces.ts'
import { RightsWatch } from './rights-watch.ts'

/** Two people in the workspace `w`, which is gone by now; `allows` says who may still join it. */
function watched(allows: (userId: string) => Promise<boolean>) {
  const open = new OpenWorkspaces()
  const changed = new Announcer<{ resource: ResourcePath | 'any' }>()
  const log = new MemoryLog()
  const expelled: [string, FrameErrorCode | undefined][] = []
  const stayed: string[] = []
  const rightsChanged = new Announcer<Attachment>()
  rightsChanged.subscribe(({ userId }) => stayed.push(userId))
  const watch = new RightsWatch({
    open,
    attachments: {
      rightsChanged,
      allows: ({ userId }) => allows(userId),
      expel: ({ userId }, { code }) => expelled.push([userId, code]),
    },
    access: { changed },
    accounts: { changed: new Announcer() },
    workspaces: { changed: new Announcer<WorkspaceNews>(), find: async () => undefined },
    log,
  })
  watch.begin()
  const join = (userId: string) => {
    const leaving = new AbortController()
    open.add(
      new Attachment({
        peer: recordingPeer({ userId }).peer,
        workspaceId: 'w',
        userHome: '/home/svc',
        left: leaving.signal,
        find: () => undefined,
        failed: () => undefined,
      }),
    )
    return () => leaving.abort()
  }
  return { changed, watch, join, expelled, stayed, log }
}

test('who lost the right with the workspace itself is told that there is none', async () => {
  const { changed, watch, join, expelled } = watched(async () => false)
  join('ann')
  changed.announce({ resource: '/workspaces/w' })
  await watch.settled()
  expect(expelled).toEqual([['ann', 'not_found']])
})

test('who leaves while rights are read is not announced as one who stays', async () => {
  const answer = Promise.withResolvers<boolean>()
  const { changed, watch, join, stayed } = watched(() => answer.promise)
  const leave = join('ann')
  join('bob')
  changed.announce({ resource: 'any' })
  leave()
  answer.resolve(true)
  await watch.settled()
  expect(stayed).toEqual(['bob'])
})

test('whose rights cannot be read has to leave, and nobody else', async () => {
  const { changed, watch, join, stayed, expelled, log } = watched(async (userId) => {
    if (userId === 'ann') throw new Error('no database')
    return true
  })
  join('ann')
  join('bob')
  changed.announce({ resource: '/' })
  await watch.settled()
  expect([expelled, stayed, log.records.length]).toEqual([[['ann', 'internal']], ['bob'], 1])
})

test('entries of another workspace, or of something else, concern nobody here', async () => {
  const { changed, watch, join, expelled } = watched(async () => false)
  join('ann')
  for (const resource of ['/workspaces/other', '/workspaces/w2', '/groups'] as const) changed.announce({ resource })
  await watch.settled()
  expect(expelled).toEqual([])
})
