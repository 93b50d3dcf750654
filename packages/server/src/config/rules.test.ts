import { describe, expect, test } from 'vitest'
import { load, refusal } from '../testing/load-test-settings.ts'
import { rules } from './rules.ts'
import { settingRows } from './settings.ts'

const provider = 'oidc_providers: [{ id: corp, issuer: https://id.example, client-id: svc }]'

test('a rule is about settings that exist', () => {
  const names = new Set(settingRows.map(({ row }) => row.name))
  expect(rules.flatMap(({ about }) => about).filter((name) => !names.has(name))).toEqual([])
})

describe('mode none', () => {
  test.each(['127.0.0.1', '127.8.8.8', '::1', '[::1]', 'localhost', 'LOCALHOST.'])(
    'may listen on %s',
    async (listen) => {
      expect((await load({ SVCD_PORT: '8080', SVCD_LISTEN: listen })).warnings).toEqual([])
    },
  )

  test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com'])('may not listen on %s', async (listen) => {
    const { message } = await refusal({ SVCD_PORT: '8080', SVCD_LISTEN: listen })
    expect(message).toContain('SVCD_AUTH_MODES is none, which is only safe on a loopback address')
  })

  test('may have any address while there is no browser listener', async () => {
    expect((await load({ SVCD_LISTEN: '0.0.0.0' })).warnings).toEqual([])
  })

  test('may listen anywhere when the operator insists, with a warning', async () => {
    const { warnings } = await load({ SVCD_PORT: '80', SVCD_LISTEN: '::', SVCD_ALLOW_INSECURE_NO_AUTH: '1' })
    expect(warnings).toEqual([
      expect.stringContaining('Nobody is asked to sign in, and other machines can reach SVCD_LISTEN'),
    ])
  })

  test('a mistyped address is not reported twice', async () => {
    const { problems } = await refusal({ SVCD_PORT: '8080', SVCD_LISTEN: '0.0.0.0/0' })
    expect(problems.map(({ setting }) => setting)).toEqual(['SVCD_LISTEN'])
  })
})

test('passwords allow any address', async () => {
  const { warnings } = await load({ SVCD_PORT: '80', SVCD_LISTEN: '::', SVCD_AUTH_MODES: 'password' })
  expect(warnings.join()).not.toContain('SVCD_LISTEN')
})

describe('test mode', () => {
  test('is loud on loopback', async () => {
    expect((await load({ SVCD_TEST_MODE: 'on', SVCD_PORT: '80' })).warnings.join()).toContain('TEST MODE IS ON')
  })

  test('is refused elsewhere, even with passwords', async () => {
    const env = { SVCD_TEST_MODE: 'on', SVCD_PORT: '80', SVCD_LISTEN: '::', SVCD_AUTH_MODES: 'password' }
    expect((await refusal(env)).message).toContain('SVCD_TEST_MODE is only allowed while SVCD_LISTEN is a loopback')
  })
})

describe('a setting that would turn a control off by accident', () => {
  test.each([
    ['a lockout without a window', { SVCD_LOGIN_LOCKOUT_WINDOW: '0' }, 'it would never lock'],
    ['a lockout without a duration', { SVCD_LOGIN_LOCKOUT_DURATION: '0' }, 'it would never lock'],
    ['a token for ever', { SVCD_ACCESS_TOKEN_HOURS: '1000000' }, 'at most 87600'],
  ])('%s is refused', async (_, env, message) => {
    expect((await refusal(env)).message).toContain(message)
  })

  test('a lockout that is off needs neither', async () => {
    await load({ SVCD_LOGIN_LOCKOUT_FAILURES: '0', SVCD_LOGIN_LOCKOUT_WINDOW: '0', SVCD_LOGIN_LOCKOUT_DURATION: '0' })
  })

  test('trusting everybody as a proxy is said aloud', async () => {
    const { warnings } = await load({ SVCD_TRUSTED_PROXY_CIDRS: '127.0.0.1,0.0.0.0/0' })
    expect(warnings.join()).toContain('every client may claim any address')
  })
})

describe('a password policy that nobody could meet is refused', () => {
  test.each([
    ['too long', { SVCD_MIN_PASSWORD_LENGTH: '73' }, 'ask for 73, but no password may exceed 72 bytes'],
    [
      'too many kinds',
      { SVCD_PASSWORD_REQUIRE_UPPER: '40', SVCD_PASSWORD_REQUIRE_DIGIT: '40' },
      'ask for 80, but no password may exceed 72 bytes',
    ],
    [
      'changed too late to be changed',
      { SVCD_PASSWORD_MIN_AGE_HOURS: '49', SVCD_PASSWORD_MAX_AGE_DAYS: '2' },
      'SVCD_PASSWORD_MIN_AGE_HOURS must not be longer than SVCD_PASSWORD_MAX_AGE_DAYS',
    ],
  ])('%s', async (_, env, message) => {
    expect((await refusal(env)).message).toContain(message)
  })

  test('the strictest that somebody can meet is taken', async () => {
    await load({ SVCD_MIN_PASSWORD_LENGTH: '72', SVCD_PASSWORD_MIN_AGE_HOURS: '48', SVCD_PASSWORD_MAX_AGE_DAYS: '2' })
    await load({ SVCD_PASSWORD_MIN_AGE_HOURS: '8760' })
  })
})

describe('TLS', () => {
  test.each([
    ['without a port', { SVCD_TLS_HOSTNAME: 'svc.example.com' }, 'SVCD_TLS_HOSTNAME needs SVCD_PORT'],
    ['an address from a public authority', { SVCD_PORT: '443', SVCD_TLS_HOSTNAME: '203.0.113.1' }, 'a public name'],
    ['one word from a public authority', { SVCD_PORT: '443', SVCD_TLS_HOSTNAME: 'svc' }, 'a public name'],
    [
      'an IPv6 address from our own authority',
      { SVCD_PORT: '443', SVCD_TLS_HOSTNAME: '::1', SVCD_TLS_ISSUER: 'internal' },
      'must be a host name or an IPv4 address',
    ],
    [
      'a good name from a public authority',
      { SVCD_PORT: '443', SVCD_TLS_HOSTNAME: 'svc.example.com' },
      'SVCD_TLS_HOSTNAME cannot be used: this version does not serve HTTPS itself',
    ],
    [
      'a good name from our own authority',
      { SVCD_PORT: '443', SVCD_TLS_HOSTNAME: 'svc', SVCD_TLS_ISSUER: 'Internal' },
      'this version does not serve HTTPS itself',
    ],
  ])('%s is refused', async (_, env, reason) => {
    expect((await refusal(env)).message).toContain(reason)
  })

  test('an issuer without a host name has no effect, and a warning says so', async () => {
    const { warnings } = await load({ SVCD_TLS_ISSUER: 'internal', SVCD_ACME_EMAIL: 'a@example.com' })
    expect(warnings).toContain('SVCD_TLS_ISSUER has no effect without SVCD_TLS_HOSTNAME')
    expect(warnings).toContain('SVCD_ACME_EMAIL has no effect while SVCD_TLS_ISSUER is internal')
  })
})

test.each([
  ['the two ports are the same', { SVCD_PORT: '8995' }, 'SVCD_EGRESS_PORT must differ from SVCD_PORT'],
  ['the socket path is too long', { SVCD_SOCKET: `/${'x'.repeat(104)}` }, 'a path of at most 104 bytes'],
  ['the socket path is long in bytes', { SVCD_SOCKET: `/${'é'.repeat(52)}` }, 'a path of at most 104 bytes'],
  ['the state directory makes it too long', { SVCD_STATE_DIR: `/${'x'.repeat(100)}` }, 'SVCD_SOCKET must be a path'],
  [
    'eviction would recover before it starts',
    { SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT: '20' },
    'SVCD_MEMORY_EVICTION_RECOVERY_PERCENT must not be below',
  ],
  [
    'the disk warns when critical',
    { SVCD_DISK_WATCHDOG_WARN_PERCENT: '90' },
    'SVCD_DISK_WATCHDOG_WARN_PERCENT must be',
  ],
  [
    'memory warns after critical',
    { SVCD_MEMORY_WATCHDOG_WARN_PERCENT: '95' },
    'must be below SVCD_MEMORY_WATCHDOG_CRIT',
  ],
  ['the processor too', { SVCD_CPU_WATCHDOG_CRITICAL_PERCENT: '10' }, 'must be below SVCD_CPU_WATCHDOG_CRITICAL'],
  ['single sign-on has no provider', { SVCD_AUTH_MODES: 'oidc' }, 'SVCD_AUTH_MODES is oidc, which needs a provider'],
  ['both ways in have no provider', { SVCD_AUTH_MODES: 'both' }, 'SVCD_AUTH_MODES is both, which needs a provider'],
])('refused: %s', async (_, env, reason) => {
  expect((await refusal(env)).message).toContain(reason)
})

test('a socket path of exactly 104 bytes is fine', async () => {
  expect((await load({ SVCD_SOCKET: `/${'x'.repeat(103)}` })).settings.network.socket).toHaveLength(104)
})

test('single sign-on with a provider is fine', async () => {
  expect((await load({ SVCD_AUTH_MODES: 'oidc' }, provider)).settings.oidc.providers).toHaveLength(1)
})

test('providers never change the mode', async () => {
  expect((await load({}, provider)).settings.auth.modes).toBe('none')
})

test('a banner title without a banner has no effect, and a warning says so', async () => {
  const { warnings } = await load({ SVCD_LOGIN_BANNER_TITLE: 'Notice' })
  expect(warnings).toEqual([expect.stringContaining('have no effect without SVCD_LOGIN_BANNER')])
})

describe('signing secrets', () => {
  test.each([
    ['short', 'must be at least 32 characters long'],
    ['change-me-change-me-change-me-change-me', 'must not be a well-known or guessable text'],
    ['your_super_SECRET_key_0123456789012345', 'must not be a well-known or guessable text'],
    ['a'.repeat(64), 'must not be a well-known or guessable text'],
  ])('%s is refused', async (secret, reason) => {
    const { message } = await refusal({ SVCD_JWT_SECRET: secret })
    expect(message).toContain(`SVCD_JWT_SECRET ${reason}`)
    expect(message).not.toContain(secret)
  })

  test('a random one is taken', async () => {
    const secret = '8sJ0vQkq3mZ1x5Yw7uTt9rPp2nLl4bHh'
    expect((await load({ SVCD_JWT_SECRET: secret })).settings.auth.jwtSecret?.reveal()).toBe(secret)
  })

  test('an audit key of fewer than 32 characters is refused', async () => {
    expect((await refusal({ SVCD_AUDIT_HMAC_KEY: 'x'.repeat(31) })).message).toContain('at least 32 characters')
  })
})
