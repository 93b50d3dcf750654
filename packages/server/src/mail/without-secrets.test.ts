import { expect, test } from 'vitest'
import { harmlessCause, withoutSecrets } from './without-secrets.ts'

test.each([
  ['550 5.1.1 <ada@example.org>: no such user', '550 5.1.1 <ada@example.org>: no such user'],
  ['554 the URL https://svc.example.com/#/verify?token=abc is bad', '554 the URL *** is bad'],
  ['554 see http://a.example/b for more', '554 see *** for more'],
  ['554 saw "#/verify?token=3Dabc"', '554 saw ***'],
  ['500 AUTH PLAIN secret words here', '500 AUTH PLAIN *** here'],
  [`500 ${'QUJD'.repeat(20)}`, '500 ***'],
])('%s becomes %s', (text, expected) => {
  expect(withoutSecrets(text, ['secret words', ''])).toBe(expected)
})

test('an error without secrets stays the same object', () => {
  const error = new Error('550 no such user')
  expect(harmlessCause(error, ['secret'])).toBe(error)
})

test('an error with a secret beside its message is replaced too', () => {
  const error = Object.assign(new Error('refused'), { response: '535 secret' })
  const cause = harmlessCause(error, ['secret'])
  expect(cause).toEqual(new Error('refused'))
  expect(cause).not.toHaveProperty('response')
})
