import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { OutputBatch } from './output-batch.ts'

function open() {
  const clock = new FakeClock()
  const sent: string[] = []
  const batch = new OutputBatch({ clock, deliver: (bytes) => sent.push(Buffer.from(bytes).toString()) })
  return { clock, batch, push: (text: string) => batch.push(Buffer.from(text)), take: () => sent.splice(0) }
}

test('what comes after silence is sent at once', () => {
  const { clock, push, take } = open()
  push('a')
  expect(take()).toEqual(['a'])
  clock.advance(8)
  push('b')
  expect(take()).toEqual(['b'])
})

test('what follows soon is sent together, every 8 ms', () => {
  const { clock, push, take } = open()
  for (const text of 'abc') push(text)
  clock.advance(7)
  expect(take()).toEqual(['a'])
  clock.advance(1)
  expect(take()).toEqual(['bc'])
  push('d')
  expect(take()).toEqual([])
  clock.advance(8)
  expect(take()).toEqual(['d'])
})

test('what comes after a key was pressed is sent at once', () => {
  const { clock, batch, push, take } = open()
  push('a')
  push('b')
  batch.expectEcho()
  push('c')
  expect(take()).toEqual(['a', 'b', 'c'])
  push('d')
  expect(take()).toEqual([])
  clock.advance(8)
  expect(take()).toEqual(['d'])
})

test('32 KiB do not wait', () => {
  const { push, take } = open()
  push('a')
  take()
  for (let count = 0; count < 4; count++) push('x'.repeat(8 * 1024))
  expect(take()).toEqual(['x'.repeat(32 * 1024)])
})

test('a large piece is a message of its own, after what waited', () => {
  const { push, take } = open()
  push('a')
  push('b')
  push('x'.repeat(16 * 1024))
  expect(take()).toEqual(['a', 'b', 'x'.repeat(16 * 1024)])
})

test('what waits can be sent because something else follows', () => {
  const { clock, batch, push, take } = open()
  push('a')
  push('b')
  batch.flush()
  expect(take()).toEqual(['a', 'b'])
  clock.advance(100)
  expect(take()).toEqual([])
})

test('what is dropped is never sent', () => {
  const { clock, batch, push, take } = open()
  push('a')
  push('b')
  batch.drop()
  clock.advance(100)
  expect(take()).toEqual(['a'])
})
