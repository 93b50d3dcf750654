import { expect, test } from 'vitest'
import { findSignal, wireSignal } from './exec-signal.ts'

test.each([
  ['TERM', 'SIGTERM'],
  ['SIGTERM', 'SIGTERM'],
  ['USR1', 'SIGUSR1'],
  ['KILL', 'SIGKILL'],
  ['', undefined],
  ['SIG', undefined],
  ['term', undefined],
  ['15', undefined],
  ['toString', undefined],
  ['SIGSIGTERM', undefined],
])('%j is the signal %j', (name, signal) => {
  expect(findSignal(name)).toBe(signal)
})

test('clients are told the short name', () => {
  expect(wireSignal('SIGINT')).toBe('INT')
  expect(wireSignal('something else')).toBe('something else')
})
