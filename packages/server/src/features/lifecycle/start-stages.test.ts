import { expect, test } from 'vitest'
import { Announcer } from '../../kernel/announcer.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { engineWith, openMachine } from '../../testing/open-machine.ts'
import type { PullNews } from '../images/images.ts'
import { SYSTEM } from './lifecycle-news.ts'
import { type StageNews, StartStages } from './start-stages.ts'

function stages() {
  const clock = new FakeClock()
  const all = new StartStages(clock)
  const told: StageNews[] = []
  all.news.subscribe((news) => told.push(news))
  return { clock, all, told }
}

test('the stages of a start are told as they come, with the time since its begin', () => {
  const { clock, all, told } = stages()
  const { tell } = all.begin('w')
  tell('admission')
  clock.advance(40)
  tell('create')
  expect(told).toEqual([
    { workspaceId: 'w', stage: 'admission', elapsedMs: 0 },
    { workspaceId: 'w', stage: 'create', elapsedMs: 40 },
  ])
})

test('steps of a stage are told at most four times a second, and the first at once', () => {
  const { clock, all, told } = stages()
  const { tell } = all.begin('w')
  tell('image')
  for (let step = 0; step < 10; step++) {
    tell('image', `layer ${step}`)
    clock.advance(100)
  }
  expect(told.map(({ detail }) => detail)).toEqual([undefined, 'layer 0', 'layer 3', 'layer 6', 'layer 9'])
})

test('who comes late is told each stage so far once, and nothing of a start that is over', () => {
  const { all } = stages()
  const { tell, end } = all.begin('w')
  tell('admission')
  tell('image')
  tell('image', 'layer 1')
  tell('create')
  expect(all.soFar('w').map(({ stage, detail }) => [stage, detail])).toEqual([
    ['admission', undefined],
    ['image', 'layer 1'],
    ['create', undefined],
  ])
  expect(all.soFar('other')).toEqual([])
  end()
  expect(all.soFar('w')).toEqual([])
})

test('a start tells its stages in order, with the steps of the fetch of its own image', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ image: 'house:1' })
  const progress = new Announcer<PullNews>()
  const supports = { ...machine.engine.supports, images: true }
  const { lifecycle } = await machine.boot({
    engine: engineWith(machine.engine, { supports }),
    images: {
      progress,
      nameFor: (image) => image ?? 'default',
      requireAllowed: () => undefined,
      async ensurePresent() {
        progress.announce({ image: 'ant:1', text: 'not this one' })
        progress.announce({ image: 'house:1', text: 'fetching layers' })
      },
    },
  })
  const told: string[] = []
  lifecycle.stages.news.subscribe(({ stage, detail }) =>
    told.push(detail === undefined ? stage : `${stage}: ${detail}`),
  )
  await lifecycle.start(id, { cause: 'api', actor: SYSTEM })
  progress.announce({ image: 'house:1', text: 'for somebody else' })
  expect(told).toEqual(['admission', 'image', 'image: fetching layers', 'create', 'start', 'ready_wait'])
  expect(lifecycle.stages.soFar(id)).toEqual([])
})

test('a start that is refused is over for those who follow it', async () => {
  const machine = await openMachine({ SVCD_MAX_RUNNING_WORKSPACES_PER_USER: '1' })
  const [{ id: first }, { id: second }] = [await machine.workspace(), await machine.workspace()]
  const { lifecycle } = await machine.boot()
  await lifecycle.start(first, { cause: 'api', actor: SYSTEM })
  await expect(lifecycle.start(second, { cause: 'api', actor: SYSTEM })).rejects.toThrow()
  expect(lifecycle.stages.soFar(second)).toEqual([])
})
