import { expect, test } from 'vitest'
import { readEnv, sanitizeImportedEnv } from './env.ts'

test('names and values go through as they are, and nothing is no environment', () => {
  expect(readEnv({ A: '1', 'b.c-d': 'x=y', EMPTY: '', LINES: 'a\nb' })).toEqual({
    A: '1',
    'b.c-d': 'x=y',
    EMPTY: '',
    LINES: 'a\nb',
  })
  expect(readEnv({})).toBeNull()
  expect(readEnv(null)).toBeNull()
})

test.each(['', 'A=B', 'A B', 'A\tB', 'A\0', 'A\n', '\u200b'])('%j cannot be the name of a variable', (name) => {
  expect(() => readEnv({ [name]: 'x' })).toThrow('Invalid environment variable name')
})

test('a value cannot hold NUL', () => {
  expect(() => readEnv({ A: 'x\0y' })).toThrow("The value of 'A' must not hold a NUL character")
})

test.each([
  [
    { A: '1', PATH: '/evil', LD_PRELOAD: 'x', LD_LIBRARY_PATH: 'y', PATHS: 'ok' },
    { A: '1', PATHS: 'ok' },
  ],
  [{ SVCD_PORT: '1', SVCWS_FEATURE_X: '1', SVCNET_X: '1', SVC_TOKEN: '1', SVCX: 'ok' }, { SVCX: 'ok' }],
  [{ 'A=B': '1', NUL: '\0', NUMBER: 7, NOTHING: null, B: 'ok' }, { B: 'ok' }],
  [{ PATH: '/evil' }, null],
  [{}, null],
  [['A'], null],
  ['A=B', null],
  [null, null],
])('of an imported %j stays %j', (raw, kept) => {
  expect(sanitizeImportedEnv(raw)).toEqual(kept)
})
