import { expect, test } from 'vitest'
import { LeftOutList } from './left-out-list.ts'

test('nothing left out is no text', () => {
  expect(new LeftOutList().text()).toBeUndefined()
})

test('each has a line of its own, whatever its name holds', () => {
  const list = new LeftOutList()
  list.add({ name: 'a\n"b"', reason: 'it is large' })
  list.add({ name: 'é'.repeat(201), reason: 'it is long' })
  expect(list.text()).toBe(`"a\\n\\"b\\"": it is large\n"${'é'.repeat(200)}"…: it is long\n`)
})

test('a thousand are named, and the others counted', () => {
  const list = new LeftOutList()
  for (let number = 1; number <= 1002; number++) list.add({ name: `${number}`, reason: 'why' })
  const lines = list.text()?.trimEnd().split('\n')
  expect(lines).toHaveLength(1001)
  expect(lines?.slice(-2)).toEqual(['"1000": why', 'and 2 more'])
})
