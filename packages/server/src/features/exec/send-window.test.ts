import { expect, test } from 'vitest'
import { SendWindow } from './send-window.ts'

test('whoever has sent enough waits until something of it has arrived', async () => {
  const window = new SendWindow({ maxBytes: 100 })
  const arrived = [window.take(60), window.take(60)]
  let hasRoom = false
  const room = window.room().then(() => {
    hasRoom = true
  })
  await Promise.resolve()
  expect(hasRoom).toBe(false)
  arrived[0]?.()
  await room
  expect(hasRoom).toBe(true)
})

test('there is room for one piece more than fits, so that none is too large', async () => {
  const window = new SendWindow({ maxBytes: 100 })
  window.take(99)
  await window.room()
  window.take(1000)
})
