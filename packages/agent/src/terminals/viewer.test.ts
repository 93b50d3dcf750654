import { expect, test } from 'vitest'
import { joinedChannel } from '../testing/joined-channel.ts'
import { OutputRing } from './output-ring.ts'
import { Screen } from './screen.ts'
import { Viewer } from './viewer.ts'

const SIZE = { cols: 80, rows: 24 }

/** A viewer that takes what its credit allows, and then nothing until `hurry`. */
async function openViewer({ isLossy }: { isLossy: boolean }) {
  const ring = new OutputRing()
  const screen = new Screen({ ring, size: SIZE, titled: () => {}, progressed: () => {} })
  const messages: unknown[] = []
  let taken = 0
  let held = 0
  let isSlow = true
  const { ofAgent, ofServer } = joinedChannel({
    message: (message) => messages.push(message),
    data: (bytes) => {
      taken += bytes.length
      if (isSlow) held += bytes.length
      else ofServer.consumed(bytes.length)
    },
  })
  const viewer = new Viewer({ channel: await ofAgent, ring, screen, isLossy, moved: () => {} })
  void viewer.show(0, SIZE)
  const hurry = () => {
    isSlow = false
    ofServer.consumed(held)
  }
  return { ring, screen, viewer, messages, taken: () => taken, hurry }
}

test.each([
  ['that may miss output is told the latest title and size alone', true, [{ cols: 1099, rows: 24 }]],
  [
    'that must not miss any is told the latest title, and each size that something was written in',
    false,
    Array.from({ length: 100 }, (_, round) => ({ cols: 1000 + round, rows: 24 })),
  ],
])('a viewer who takes nothing and %s', async (_, isLossy, sizes) => {
  const { ring, viewer, messages, taken, hurry } = await openViewer({ isLossy })
  ring.append(Buffer.alloc(300_000, 'x'))
  viewer.wake()
  await expect.poll(taken).toBe(256 * 1024)
  for (let round = 0; round < 100; round++) {
    viewer.tell({ type: 'resized', cols: 1, rows: 1 })
    viewer.tell({ type: 'titled', title: `title ${round}` })
    viewer.tell({ type: 'resized', cols: 1000 + round, rows: 24 })
    ring.append(Buffer.from('x'))
  }
  hurry()
  await expect.poll(taken).toBe(300_100)
  expect(messages.filter((message) => hasType(message, 'titled'))).toEqual([{ type: 'titled', title: 'title 99' }])
  expect(messages.filter((message) => hasType(message, 'resized'))).toEqual(
    sizes.map((size) => ({ type: 'resized', ...size })),
  )
})

test('a viewer who is brought up to date is told the size of the snapshot before it', async () => {
  const { ring, screen, viewer, messages, taken, hurry } = await openViewer({ isLossy: true })
  ring.append(Buffer.alloc(400_000, 'x'))
  viewer.wake()
  await expect.poll(taken).toBe(256 * 1024)
  screen.resize({ cols: 100, rows: 30 })
  viewer.tell({ type: 'resized', cols: 100, rows: 30 })
  ring.append(Buffer.alloc(600_000, 'x'))
  hurry()
  await expect.poll(() => messages.some((message) => hasType(message, 'resync'))).toBe(true)
  expect(messages.slice(1)).toMatchObject([{ type: 'resized', cols: 100, rows: 30 }, { type: 'resync' }])
})

test('a viewer who must not miss anything is drawn anew once what it needs is gone', async () => {
  const { ring, screen, viewer, messages, taken, hurry } = await openViewer({ isLossy: false })
  ring.append(Buffer.alloc(400_000, 'x'))
  viewer.wake()
  await expect.poll(taken).toBe(256 * 1024)
  for (let round = 0; round < 60; round++) {
    ring.append(Buffer.alloc(100_000, 'x'))
    await screen.snapshot()
    viewer.tell({ type: 'resized', cols: 100 + round, rows: 24 })
  }
  hurry()
  await expect.poll(() => messages.some((message) => hasType(message, 'resync'))).toBe(true)
  const news = messages.slice(1)
  expect(news.at(-1)).toMatchObject({ type: 'resync', offset: ring.end })
  expect(news.at(-2)).toEqual({ type: 'resized', cols: 159, rows: 24 })
  // Those of what it lost are of no use, and would pile up before one who takes nothing for long.
  expect(news.length).toBeLessThan(30)
})

function hasType(message: unknown, type: string): boolean {
  return typeof message === 'object' && message !== null && Reflect.get(message, 'type') === type
}
