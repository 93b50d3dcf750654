import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WorkLine } from './work-line.ts'

/** Work that starts when the line lets it and ends when the test says so. */
function workshop(parts: { atOnce: number; maxWaiting: number; maxWaitingPerKey?: number }) {
  const line = new WorkLine({ ...parts, refusal: () => new Error('the line is full') })
  const started: string[] = []
  const endings = new Map<string, PromiseWithResolvers<string>>()
  return {
    line,
    started,
    submit(name: string, key?: string): Promise<string> {
      const ending = Promise.withResolvers<string>()
      endings.set(name, ending)
      return line.run(() => {
        started.push(name)
        return ending.promise
      }, key)
    },
    finish: (name: string) => endings.get(name)?.resolve(`${name} done`),
    fail: (name: string) => endings.get(name)?.reject(new Error(`${name} failed`)),
  }
}

/** Lets everything that is already decided happen. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('work beyond the limit waits and starts in the order it came', async () => {
  const { started, submit, finish } = workshop({ atOnce: 2, maxWaiting: 10 })
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => submit(name))
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

/** The order in which everything starts, when each piece of work ends as soon as nothing else moves. */
async function runOut({ started, finish }: ReturnType<typeof workshop>): Promise<string[]> {
  await settled()
  for (let n = 0; n < started.length; n++) {
    finish(started[n] ?? '')
    await settled()
  }
  return started
}

test('who comes with much work delays others by one piece of it', async () => {
  const shop = workshop({ atOnce: 1, maxWaiting: 100 })
  for (const n of [1, 2, 3, 4, 5]) shop.submit(`flood ${n}`, 'flooder')
  shop.submit('ann', 'ann')
  shop.submit('bob', 'bob')
  expect(await runOut(shop)).toEqual(['flood 1', 'flood 2', 'ann', 'bob', 'flood 3', 'flood 4', 'flood 5'])
})

test('keys take turns, bring more work without losing theirs, and within a key the order is that of coming', async () => {
  const shop = workshop({ atOnce: 1, maxWaiting: 100 })
  shop.submit('first')
  for (const name of ['a1', 'b1', 'a2', 'c1', 'b2', 'a3']) shop.submit(name, name[0])
  shop.submit('nobody 1')
  expect(await runOut(shop)).toEqual(['first', 'a1', 'b1', 'c1', 'nobody 1', 'a2', 'b2', 'a3'])
})

test('a key that comes again has to wait until the others had their turn', async () => {
  const { started, submit, finish } = workshop({ atOnce: 1, maxWaiting: 100 })
  submit('a1', 'a')
  submit('a2', 'a')
  submit('b1', 'b')
  finish('a1')
  await settled()
  submit('a3', 'a')
  finish('a2')
  await settled()
  expect(started).toEqual(['a1', 'a2', 'b1'])
})

test('who finds the queue of their key full is refused; others still find a place, until the line is full', async () => {
  const shop = workshop({ atOnce: 1, maxWaiting: 3, maxWaitingPerKey: 2 })
  for (const name of ['a1', 'a2', 'a3']) shop.submit(name, 'a')
  await expect(shop.submit('a4', 'a')).rejects.toThrow('the line is full')
  shop.submit('b1', 'b')
  await expect(shop.submit('c1', 'c')).rejects.toThrow('the line is full')
  expect(await runOut(shop)).toEqual(['a1', 'a2', 'b1', 'a3'])
})

/** What a line is asked to do: take work under a key, or end the oldest work that runs, well or badly. */
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ key: fc.constantFrom('a', 'b', 'c', undefined) }) },
    { weight: 2, arbitrary: fc.constantFrom('finish' as const, 'fail' as const) },
  ),
  { maxLength: 60 },
)
const limits = fc.record({
  atOnce: fc.integer({ min: 1, max: 3 }),
  maxWaiting: fc.integer({ min: 0, max: 8 }),
  maxWaitingPerKey: fc.integer({ min: 0, max: 4 }),
})

test('work is refused or runs exactly once, in the order of its key, and nothing is left behind', async () => {
  await fc.assert(
    fc.asyncProperty(limits, steps, async (parts, what) => {
      const shop = workshop(parts)
      const outcomes: Promise<{ name: string; outcome: string }>[] = []
      let ended = 0
      const end = async (how: 'finish' | 'fail') => {
        const name = shop.started[ended]
        if (name === undefined) return
        ended++
        shop[how](name)
        await settled()
      }
      for (const step of what) {
        if (typeof step === 'string') await end(step)
        else {
          const name = `${step.key} ${outcomes.length}`
          const work = shop.submit(name, step.key)
          outcomes.push(
            work.then(
              () => ({ name, outcome: 'done' }),
              (error: Error) => ({ name, outcome: error.message }),
            ),
          )
          await settled()
        }
        expect(shop.started.length - ended).toBeLessThanOrEqual(parts.atOnce)
      }
      while (ended < shop.started.length) await end('finish')

      const all = await Promise.all(outcomes)
      const accepted = all.filter(({ outcome }) => outcome !== 'the line is full').map(({ name }) => name)
      expect(shop.started.toSorted()).toEqual(accepted.toSorted())
      for (const key of ['a', 'b', 'c', 'undefined']) {
        const ofKey = (names: readonly string[]) => names.filter((name) => name.startsWith(`${key} `))
        expect(ofKey(shop.started)).toEqual(ofKey(accepted))
      }
      expect(shop.line.isIdle).toBe(true)
    }),
  )
})
