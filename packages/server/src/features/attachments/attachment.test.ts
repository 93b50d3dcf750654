import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { recordingPeer } from '../../testing/recording-peer.ts'
import { Attachment } from './attachment.ts'

function attachment() {
  const leaving = new AbortController()
  const failures: unknown[] = []
  const made = new Attachment({
    peer: recordingPeer().peer,
    workspaceId: 'w',
    userHome: '/home/svc',
    left: leaving.signal,
    find: () => undefined,
    failed: (error) => failures.push(error),
  })
  return { made, failures, leave: () => leaving.abort() }
}

test('a clean-up that fails, at once or later, is noted and keeps no other from being done', async () => {
  const { made, failures, leave } = attachment()
  const done: string[] = []
  const [now, later] = [new Error('now'), new Error('later')]
  made.onLeft(() => {
    throw now
  })
  made.onLeft(() => Promise.reject(later))
  made.onLeft(() => void done.push('third'))
  leave()
  leave()
  expect(done).toEqual(['third'])
  await expect.poll(() => failures).toEqual([now, later])
})

test('clean-up for one that has left already is done at once', () => {
  const { made, leave } = attachment()
  const done: string[] = []
  leave()
  made.onLeft(() => void done.push('late'))
  expect(done).toEqual(['late'])
})

test('clean-up that was taken back is not done, and nothing of it stays', () => {
  const { made, leave } = attachment()
  const done: string[] = []
  const takeBack = made.onLeft(() => void done.push('first'))
  made.onLeft(() => void done.push('second'))
  takeBack()
  expect(getEventListeners(made.left, 'abort')).toHaveLength(1)
  leave()
  expect(done).toEqual(['second'])
})

test('without a container there is nothing to work in', () => {
  const { made } = attachment()
  expect(() => made.requireRunning()).toThrow(expect.objectContaining({ code: 'container_gone' }))
  expect(() => made.touch()).not.toThrow()
})
