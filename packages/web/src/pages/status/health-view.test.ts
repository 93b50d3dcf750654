import { expect, test } from 'vitest'
import { healthRows, healthState } from './health-view.ts'

const ok = { status: 'ok', instance: 'i' } as const

test.each([
  { poll: { data: undefined, isError: false }, state: 'checking' },
  { poll: { data: ok, isError: false }, state: 'ok' },
  { poll: { data: { ...ok, status: 'degraded' as const }, isError: false }, state: 'degraded' },
  {
    poll: {
      data: {
        ...ok,
        status: 'degraded' as const,
        detail: { filesystems: [], memory: null, cpu: null, audit: true, last_poll: null },
      },
      isError: false,
    },
    state: 'critical',
  },
  { poll: { data: ok, isError: true }, state: 'down' },
])('a poll with $poll is shown as $state', ({ poll, state }) => {
  expect(healthState(poll)).toBe(state)
})

test('what was not measured has no row, and the audit log always has one', () => {
  const rows = healthRows({ filesystems: [], memory: null, cpu: null, audit: false, last_poll: '' })
  expect(rows.map(({ name, stateWord }) => [name, stateWord])).toEqual([['Audit log', 'OK']])
})

test('every filesystem has a row, healthy or not', () => {
  const rows = healthRows({
    filesystems: [
      { path: '/', usage_percent: 12, state: 'ok' },
      { path: '/data', usage_percent: 97.5, state: 'critical' },
    ],
    memory: { usage_percent: 83, state: 'warn' },
    cpu: { psi_avg60_percent: 1.5, state: 'ok' },
    audit: true,
    last_poll: '',
  })
  expect(rows.map(({ name, percent, stateWord }) => [name, percent, stateWord])).toEqual([
    ['/', 12, 'OK'],
    ['/data', 97.5, 'Critical'],
    ['Memory', 83, 'Warning'],
    ['Processor', 1.5, 'OK'],
    ['Audit log', undefined, 'Writing failed'],
  ])
})
