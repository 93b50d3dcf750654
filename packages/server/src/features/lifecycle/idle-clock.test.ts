import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { IdleClock } from './idle-clock.ts'

function watched(given: { id: string; activeMs?: number; timeout: number }[]) {
  let workspaces = given
  const clock = new FakeClock()
  const bornMs = clock.nowMs()
  const found: { id: string; atSeconds: number }[] = []
  const idle = new IdleClock({
    clock,
    subjects: () =>
      workspaces.map((workspace) => ({
        workspaceId: workspace.id,
        lastActivityMs: () => bornMs + (workspace.activeMs ?? 0),
        timeoutSeconds: () => workspace.timeout,
      })),
    onIdle: (id) => {
      found.push({ id, atSeconds: (clock.nowMs() - bornMs) / 1000 })
      workspaces = workspaces.filter((workspace) => workspace.id !== id)
    },
  })
  idle.look()
  return { clock, found, idle }
}

test('each workspace is found at its own moment', () => {
  const { clock, found } = watched([
    { id: 'slow', timeout: 300 },
    { id: 'quick', timeout: 5 },
    { id: 'never', timeout: 0 },
  ])
  clock.advance(3_600_000)
  expect(found).toEqual([
    { id: 'quick', atSeconds: 5 },
    { id: 'slow', atSeconds: 300 },
  ])
})

test('activity moves the end', () => {
  const workspace = { id: 'one', activeMs: 0, timeout: 10 }
  const { clock, found } = watched([workspace])
  clock.advance(9_000)
  workspace.activeMs = 9_000
  clock.advance(9_999)
  expect(found).toEqual([])
  clock.advance(1)
  expect(found).toEqual([{ id: 'one', atSeconds: 19 }])
})

test('a default that became shorter is followed within a minute', () => {
  const workspace = { id: 'one', timeout: 3600 }
  const { clock, found } = watched([workspace])
  workspace.timeout = 30
  clock.advance(60_000)
  expect(found).toEqual([{ id: 'one', atSeconds: 60 }])
})

test('once ended it looks no more', () => {
  const { clock, found, idle } = watched([{ id: 'one', timeout: 5 }])
  idle.end()
  clock.advance(60_000)
  idle.look()
  expect(found).toEqual([])
})
