import { expect, test } from 'vitest'
import { WorkLine } from './work-line.ts'

/** Work that starts when the line lets it and ends when the test says so. */
function workshop(parts: { atOnce: number; maxWaiting: number }) {
  const line = new WorkLine({ ...parts, refusal: () => new Error('the line is full') })
  const started: string[] = []
  const endings = new Map<string, PromiseWithResolvers<string>>()
  return {
    line,
    started,
    submit(name: string): Promise<string> {
      const ending = Promise.withResolvers<string>()
      endings.set(name, ending)
      return line.run(() => {
        started.push(name)
        return ending.promise
      })
    },
    finish: (name: string) => endings.get(name)?.resolve(`${name} done`),
    fail: (name: string) => endings.get(name)?.reject(new Error(`${name} failed`)),
  }
}

/** Lets everything that is already decided happen. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('work beyond the limit waits and starts in the order it came', async () => {
  const { started, submit, finish } = workshop({ atOnce: 2, maxWaiting: 10 })
  const all = ['a', 'b', 'c', 'd', 'e'].map(submit)
  await settled()
  expect(started).toEqual(['a', 'b'])
  finish('b')
  await settled()
  expect(started).toEqual(['a', 'b', 'c'])
  finish('a')
  finish('c')
  await settled()
  expect(started).toEqual(['a', 'b', 'c', 'd', 'e'])
  finish('d')
  finish('e')
  expect(await Promise.all(all)).toEqual(['a done', 'b done', 'c done', 'd done', 'e done'])
})

test('who comes when the line is full is refused at once, and the line is as it was', async () => {
  const { started, submit, finish } = workshop({ atOnce: 1, maxWaiting: 1 })
  const [first, second] = [submit('first'), submit('second')]
  await expect(submit('third')).rejects.toThrow('the line is full')
  finish('first')
  await first
  const fourth = submit('fourth')
  finish('second')
  finish('fourth')
  expect(await Promise.all([second, fourth])).toEqual(['second done', 'fourth done'])
  expect(started).toEqual(['first', 'second', 'fourth'])
})

test('a newcomer does not overtake the one who is just being called up', async () => {
  const { started, submit, finish } = workshop({ atOnce: 1, maxWaiting: 10 })
  const first = submit('first')
  const second = submit('second')
  const newcomer = first.then(() => submit('newcomer'))
  finish('first')
  await settled()
  expect(started).toEqual(['first', 'second'])
  finish('second')
  await second
  await settled()
  finish('newcomer')
  expect(await newcomer).toBe('newcomer done')
})

test.each(['rejects', 'throws'])('work that %s gives its place to the next', async (how) => {
  const { line, submit, finish, fail } = workshop({ atOnce: 1, maxWaiting: 10 })
  const broken =
    how === 'rejects'
      ? submit('broken')
      : line.run(() => {
          throw new Error('broken failed')
        })
  const next = submit('next')
  fail('broken')
  await expect(broken).rejects.toThrow('broken failed')
  finish('next')
  expect(await next).toBe('next done')
})

test('an emptied line has all its places again', async () => {
  const { started, submit, finish } = workshop({ atOnce: 2, maxWaiting: 0 })
  for (const round of ['1', '2', '3']) {
    const pair = [submit(`a${round}`), submit(`b${round}`)]
    finish(`a${round}`)
    finish(`b${round}`)
    await Promise.all(pair)
  }
  expect(started).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
})
