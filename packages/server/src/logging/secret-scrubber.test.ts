import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { secretScrubber } from './secret-scrubber.ts'

const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl-_x'
const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQ==\n-----END PRIVATE KEY-----'
const scrub = secretScrubber(() => ['hunter-2!', 'quo"te\\d', 'abc', 'hunter-2!-longer', 'two\nlines', 'per cent/é'])

describe('what is masked', () => {
  test.each([
    ['a JWT', `got ${jwt} here`, 'got *** here'],
    ['a JWT after an escaped newline', `x\\n${jwt}`, 'x\\n***'],
    ['an unsigned JWT', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiI0MiJ9.', '***'],
    [
      'an encrypted token of five parts',
      'eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn eyJh.b.c.d.e',
      'eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn ***',
    ],
    ['a bearer token', 'Authorization: Bearer svc_1234567', 'Authorization: Bearer ***'],
    ['a bearer token in any case', 'authorization: bearer  svc_1234567', 'authorization: bearer  ***'],
    ['basic credentials', `Basic ${btoa('maria:pass')} end`, 'Basic *** end'],
    ['a query parameter', 'GET /ws?token=abc123&x=1', 'GET /ws?token=***&x=1'],
    [
      'a parameter of a compound name',
      '/a?access_token=abc&client_secret=def',
      '/a?access_token=***&client_secret=***',
    ],
    ['a fragment', '/done#code=abc&state=xyz', '/done#code=***&state=***'],
    ['a proof', '/ws?a=1&dpop=abc.def', '/ws?a=1&dpop=***'],
    ['an encoded parameter', 'next=%2Fa%3Ftoken%3Dabc', 'next=%2Fa%3Ftoken%3D***'],
    ['a form', 'user=maria&password=a,b;c', 'user=maria&password=***'],
    ['a quoted password', 'password="correct \\"horse\\" x" ok', 'password="***" ok'],
    ['a single-quoted password', "password='correct horse' ok", 'password=*** ok'],
    ['a password in JSON', '{"password":"a\\"b","n":1}', '{"password":"***","n":1}'],
    ['a password in JSON inside JSON', '{"m":"{\\"password\\":\\"abc\\"}"}', '{"m":"{\\"password\\":\\"***\\"}"}'],
    ['a private key', `key: ${pem} end`, 'key: *** end'],
    ['a private key in JSON', JSON.stringify({ key: pem, n: 1 }), '{"key":"***","n":1}'],
    ['a private key that was cut', JSON.stringify({ key: pem.slice(0, 40), n: 1 }), '{"key":"***","n":1}'],
    ['a password in a URL', 'postgres://svc:p@ss@db/svc', 'postgres://svc:***@db/svc'],
    ['a given secret', 'it is hunter-2!.', 'it is ***.'],
    ['the longer of two given secrets', 'it is hunter-2!-longer.', 'it is ***.'],
    ['a given secret inside JSON', JSON.stringify({ a: 'quo"te\\d' }), '{"a":"***"}'],
    ['a given secret of two lines, escaped', 'two\\nlines', '***'],
    ['a given secret in a URL', '/a/per%20cent%2F%C3%A9', '/a/***'],
  ])('%s', (_what, line, expected) => {
    expect(scrub(line)).toBe(expected)
  })
})

describe('what stays readable', () => {
  test.each([
    'GET /api/v1/workspaces/42/files?path=src status=200 duration_ms=3',
    'Bearer token missing, basic authentication is off, DPoP binding required',
    'process ended code=137 state=stopped',
    '{"code":"ENOENT","state":"running","message":"password=","host":"a"}',
    'tokens=5 token_count=7',
    'ssh://git@example.com/repo and http://[::1]:8080/a@b',
    'abc is too short to be a secret, eyJ is no token, eyJhb.c neither',
  ])('%s', (line) => {
    expect(scrub(line)).toBe(line)
  })
})

test('a secret that appears later is masked from then on', () => {
  let secrets: string[] = []
  const live = secretScrubber(() => secrets)
  expect(live('a new-secret')).toBe('a new-secret')
  secrets = ['new-secret']
  expect(live('a new-secret')).toBe('a ***')
  secrets = []
  expect(live('a new-secret')).toBe('a new-secret')
})

test('JSON stays JSON whatever it contains', () => {
  const piece = fc.constantFrom(
    ...['password', 'token', '=', '"', '\\', ':', ',', '}', ' ', '&', "'", 'eyJ', 'a.b', '%3D', 'Bearer ', 'Basic '],
    ...['://', '@', '-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', '\n', 'quo"te\\d', '?code', '#'],
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.dictionary(text, text, { maxKeys: 4 }), (record) => {
      JSON.parse(scrub(JSON.stringify(record)))
    }),
    { numRuns: 3000 },
  )
})

test.each([
  'eyJ',
  '://:',
  'token=',
  'Bearer ',
  '-----BEGIN PRIVATE KEY-----',
  'basic ',
  'password="',
  ':',
  '://a:b@',
  'BEGIN ',
])('a hostile line of repeated %j costs linear time', (piece) => {
  const costMs = (length: number): number => {
    const line = piece.repeat(length / piece.length)
    const start = performance.now()
    scrub(line)
    return performance.now() - start
  }
  costMs(16_000)
  // Quadratic cost would be seconds here.
  expect(costMs(1_600_000)).toBeLessThan(1000)
})
