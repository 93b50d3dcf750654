import { once } from 'node:events'
import { expect, test } from 'vitest'
import { atOnce } from './at-once.ts'

const never = () => new AbortController().signal

test('the answers come in the order of the work', async () => {
  expect(await atOnce(never(), () => [Promise.resolve('one'), 2])).toEqual(['one', 2])
})

test('the first failure aborts the others, and is told when they have ended', async () => {
  const ended: string[] = []
  const work = atOnce(never(), (signal) => [
    once(signal, 'abort').then(async () => {
      await new Promise(setImmediate)
      ended.push('the other')
      throw new Error('aborted')
    }),
    Promise.reject(new Error('the first')),
  ])
  await expect(work).rejects.toThrow('the first')
  expect(ended).toEqual(['the other'])
})

test('whoever called can abort it all', async () => {
  const caller = new AbortController()
  const work = atOnce(caller.signal, (signal) => [
    once(signal, 'abort').then(() => Promise.reject(signal.reason)),
    Promise.resolve(),
  ])
  caller.abort(new Error('no longer wanted'))
  await expect(work).rejects.toThrow('no longer wanted')
})
