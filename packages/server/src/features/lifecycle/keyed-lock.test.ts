import { expect, test } from 'vitest'
import { KeyedLock } from './keyed-lock.ts'

test('for one key there is one at a time, first come first served; other keys do not wait', async () => {
  const locks = new KeyedLock()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const first = locks.run('a', async () => {
    await gate.promise
    order.push('first')
  })
  const second = locks.run('a', async () => void order.push('second'))
  await locks.run('b', async () => void order.push('other'))
  expect([order, locks.isHeld('a'), locks.isHeld('b')]).toEqual([['other'], true, false])
  gate.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['other', 'first', 'second'])
})

test('a lock that nobody needs any more is forgotten, also after a failure', async () => {
  const locks = new KeyedLock()
  await expect(locks.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await Promise.all(Array.from({ length: 100 }, (_, index) => locks.run(`key ${index % 10}`, async () => undefined)))
  expect(locks.size).toBe(0)
})
