import { expect, test } from 'vitest'
import { ReadCache } from './read-cache.ts'

/** A database of one value whose answers the test lets through, in any order. */
function slowSource() {
  const pending: { answer: (value: string) => void }[] = []
  const load = () => new Promise<string>((resolve) => pending.push({ answer: resolve }))
  return { load, pending }
}

test('a value is read once and then answered from memory', async () => {
  let reads = 0
  const cache = new ReadCache({ load: async (key) => `${key}${++reads}`, capacity: 10 })
  expect([await cache.get('a'), await cache.get('a'), cache.peek('a')]).toEqual(['a1', 'a1', 'a1'])
})

test('callers who ask at the same time share one read', async () => {
  const { load, pending } = slowSource()
  const cache = new ReadCache({ load, capacity: 10 })
  const both = Promise.all([cache.get('a'), cache.get('a')])
  expect(pending).toHaveLength(1)
  pending[0]?.answer('value')
  expect(await both).toEqual(['value', 'value'])
})

test('a read that began before a change is answered and not kept', async () => {
  const { load, pending } = slowSource()
  const cache = new ReadCache({ load, capacity: 10 })
  const early = cache.get('a')
  cache.forget('a')
  const late = cache.get('a')
  pending[1]?.answer('new')
  expect(await late).toBe('new')
  pending[0]?.answer('old')
  expect(await early).toBe('old')
  expect(cache.peek('a')).toBe('new')
})

test('a read that failed is tried again by the next caller', async () => {
  let broken = true
  const load = async () => {
    if (broken) throw new Error('no database')
    return 'value'
  }
  const cache = new ReadCache({ load, capacity: 10 })
  await expect(cache.get('a')).rejects.toThrow('no database')
  broken = false
  expect(await cache.get('a')).toBe('value')
})

test('what is not there is not remembered', async () => {
  let value: string | undefined
  const cache = new ReadCache({ load: async () => value, capacity: 10 })
  expect(await cache.get('a')).toBeUndefined()
  value = 'here'
  expect(await cache.get('a')).toBe('here')
})

test('the oldest value goes when there are too many', async () => {
  const cache = new ReadCache({ load: async (key) => key, capacity: 2 })
  for (const key of ['a', 'b', 'c']) await cache.get(key)
  expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([undefined, 'b', 'c'])
})
