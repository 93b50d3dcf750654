import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { LogLevel } from '../kernel/logger.ts'
import { load, refusal } from '../testing/load-test-settings.ts'
import { loadSettings } from './load-settings.ts'
import { printSettings } from './print-settings.ts'
import type { Secret } from './secret.ts'
import type { Settings } from './settings.ts'

test('settings have the types their rows describe', () => {
  expectTypeOf<Settings['network']['port']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Settings['network']['listen']>().toEqualTypeOf<string>()
  expectTypeOf<Settings['directories']['stateDir']>().toEqualTypeOf<string>()
  expectTypeOf<Settings['auth']['modes']>().toEqualTypeOf<'none' | 'password' | 'oidc' | 'both'>()
  expectTypeOf<Settings['auth']['testMode']>().toEqualTypeOf<boolean>()
  expectTypeOf<Settings['logging']['level']>().toEqualTypeOf<LogLevel>()
  expectTypeOf<Settings['logging']['fileRotate']>().toEqualTypeOf<
    'hourly' | 'daily' | 'weekly' | 'monthly' | undefined
  >()
  expectTypeOf<Settings['containers']['memoryLimitBytes']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Settings['network']['trustedProxyCidrs']>().toEqualTypeOf<readonly string[]>()
  expectTypeOf<Settings['network']['corsOrigins']>().toEqualTypeOf<readonly string[] | undefined>()
  expectTypeOf<Settings['storage']['databaseUrl']>().toEqualTypeOf<Secret | undefined>()
})

describe('sources', () => {
  test('the environment wins over the file, and the file over the default', async () => {
    const port = fc.option(fc.integer({ min: 1, max: 65535 }), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(port, port, async (inEnv, inFile) => {
        const env = inEnv === undefined ? {} : { SVCD_PORT_RANGE_START: String(inEnv) }
        const { settings, entries } = await load(env, inFile === undefined ? '' : `port_range_start: ${inFile}`)
        const source = inEnv !== undefined ? 'environment' : inFile !== undefined ? 'file' : 'default'
        expect(settings.hosting.portRangeStart).toBe(inEnv ?? inFile ?? 9000)
        expect(entries.find(({ name }) => name === 'SVCD_PORT_RANGE_START')).toMatchObject({ source })
      }),
      { numRuns: 25 },
    )
  })

  test('an empty variable counts as not set, so the file decides', async () => {
    expect((await load({ SVCD_PORT: ' ' }, 'port: 8080')).settings.network.port).toBe(8080)
  })

  test.each([
    ['a number', 'SVCD_INVITE_EXPIRE_HOURS', ({ auth }: Settings) => auth.inviteExpireHours, 72],
    ['a boolean', 'SVCD_ALLOW_SUDO', ({ containers }: Settings) => containers.allowSudo, true],
    ['a port', 'SVCD_PORT', ({ network }: Settings) => network.port, undefined],
    ['the sign-in mode', 'SVCD_AUTH_MODES', ({ auth }: Settings) => auth.modes, 'none'],
    ['mail encryption', 'SVCD_SMTP_USE_TLS', ({ mail }: Settings) => mail.smtpUseTls, true],
    ['a DISABLE switch', 'SVCD_DISABLE_INVITES', ({ auth }: Settings) => auth.disableInvites, false],
    ['notified events', 'SVCD_ADMIN_NOTIFY_EVENTS', ({ notifications }: Settings) => notifications.events.length, 23],
  ])('%s that is empty has its default', async (_, name, read, value) => {
    expect(read((await load({ [name]: '' })).settings)).toBe(value)
  })

  test.each([
    ['SVCD_CONTAINER_CPU_LIMIT', ({ containers }: Settings) => containers.cpuLimit, 'no cap'],
    ['SVCD_CONTAINER_MEMORY_LIMIT', ({ containers }: Settings) => containers.memoryLimitBytes, 'no cap'],
    ['SVCD_CONTAINER_PIDS_LIMIT', ({ containers }: Settings) => containers.pidsLimit, 'no cap'],
    ['SVCD_CONTAINER_TMP_SIZE', ({ containers }: Settings) => containers.tmpSizeBytes, 'no cap'],
    ['SVCD_ADMISSION_MEMORY_MARGIN', ({ capacity }: Settings) => capacity.admissionMemoryMarginBytes, 'no reserve'],
    ['SVCD_NETWORK_SIDECAR_IMAGE', ({ egress }: Settings) => egress.sidecarImage, 'no filtering'],
  ])('%s that is empty is switched off', async (name, read, words) => {
    const { settings, entries } = await load({ [name]: '' })
    expect(read(settings)).toBeUndefined()
    expect(entries.find((entry) => entry.name === name)).toMatchObject({ value: words, source: 'environment' })
  })

  test('YAML numbers, booleans, lists and nulls are taken as they are', async () => {
    const yaml = [
      'port: 8080',
      'quiesce_timeout: 2.5',
      'allow_sudo: no',
      'product_name: 2026',
      'cors_origins: [https://a.example, " https://b.example/ ", ""]',
      'admin_notify_events: []',
      'smtp_host: null',
    ].join('\n')
    const { network, containers, branding, notifications, mail } = (await load({}, yaml)).settings
    expect(network).toMatchObject({ port: 8080, quiesceTimeoutSeconds: 2.5 })
    expect(network.corsOrigins).toEqual(['https://a.example', 'https://b.example'])
    expect([containers.allowSudo, branding.productName, notifications.events]).toEqual([false, '2026', []])
    expect(mail.smtpHost).toBeUndefined()
  })

  test('a list from a variable is comma-separated', async () => {
    const { settings } = await load({ SVCD_TRUSTED_PROXY_CIDRS: ' 10.0.0.0/8 ,, ::1,' })
    expect(settings.network.trustedProxyCidrs).toEqual(['10.0.0.0/8', '::1'])
  })

  test.each([
    ['DISABLE_REGISTRATION', 'anything', true],
    ['DISABLE_REGISTRATION', 'off', false],
    ['DISABLE_INVITES', '1', true],
  ])('SVCD_%s=%s gives %s', async (name, value, disabled) => {
    const { auth } = (await load({ [`SVCD_${name}`]: value })).settings
    expect(name === 'DISABLE_INVITES' ? auth.disableInvites : auth.disableRegistration).toBe(disabled)
  })

  test.each([
    ['debug', 'DEBUG'],
    ['Warning', 'WARNING'],
    ['10', 'DEBUG'],
    ['25', 'WARNING'],
    ['99', 'CRITICAL'],
  ])('log level %s is %s', async (text, level) => {
    expect((await load({ SVCD_LOG_LEVEL: text })).settings.logging.level).toBe(level)
  })

  test('defaults follow the directories they are made from', async () => {
    const { settings } = await load({ SVCD_CONFIG_DIR: '/etc/svcd' })
    expect(settings.network.socket).toBe('/srv/state/svcd.sock')
    expect(settings.directories.customizeDir).toBe('/etc/svcd/custom')
    expect(settings.auth.defaultUser).toMatch(/^[\w.-]+@example\.com$/)
  })

  test('a poll interval below a second is raised to one', async () => {
    const { settings } = await load({ SVCD_RESOURCE_WATCHDOG_POLL_INTERVAL: '0.1' })
    expect(settings.capacity.watchdogPollIntervalSeconds).toBe(1)
  })
})

describe('refused values', () => {
  test.each([
    ['SVCD_AUTH_MODES', 'pasword', 'must be one of none, password, oidc, both; got "pasword"'],
    ['SVCD_PORT', '0', 'must be a whole number from 1 to 65535; got "0"'],
    ['SVCD_LISTEN', '127.0.0.1:80', 'without a port or network mask; got "127.0.0.1:80"'],
    ['SVCD_CORS_ORIGINS', 'https://a.example,*', 'has an entry (number 2) that must not be *'],
    ['SVCD_CSP_CONNECT_ORIGINS', "https://a;script-src 'unsafe-inline'", 'must be a full URL'],
    ['SVCD_TRUSTED_PROXY_CIDRS', '10.0.0.0/99', 'IP address or a network'],
    ['SVCD_HOSTING_BASE_PATH', '/a/../b', 'must be a path of letters'],
    ['SVCD_HOSTING_BASE_PATH', '/a b', 'must be a path of letters'],
    ['SVCD_CLASSIFICATION_BANNER', 'one\ntwo', 'must be one line of printable characters, at most 120'],
    ['SVCD_BRAND_COLOR', 'red', 'must be a colour such as #E65100'],
    ['SVCD_TERMS_URL', 'javascript:alert(1)', 'must be a full URL that starts with http:// or https://'],
    ['SVCD_LOGO_URL', '//evil.example/x', 'must be a full URL'],
    ['SVCD_ADMIN_NOTIFY_EVENTS', 'user.create,user.crate', 'has an entry (number 2) that must be one of user.create'],
    ['SVCD_NETFILTER_DEFAULT_DOMAINS', 'a.example:99999', 'must be host, .host, *.host'],
    ['SVCD_AUDIT_FORWARD_SYSLOG', 'udp://logs.example', 'must start with tcp:// or tls://'],
    ['SVCD_IMAGE_NAME', '--privileged', 'must be an image name'],
    ['SVCD_LOG_LEVEL', 'chatty', 'must be one of DEBUG, INFO'],
    ['SVCD_SMTP_FROM', 'a@b.example\nBcc: x', 'must be one line'],
    ['SVCD_PASSWORD_HISTORY_COUNT', '25', 'from 0 to 24'],
    ['SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT', '101', 'at most 100'],
  ])('%s=%j', async (name, value, reason) => {
    expect((await refusal({ [name]: value })).message).toContain(`${name} `)
    expect((await refusal({ [name]: value })).message).toContain(reason)
  })

  test.each([
    ['port: true', 'SVCD_PORT (port in the configuration file) must be a whole number'],
    ['port: 80.5', 'SVCD_PORT (port in the configuration file) must be a whole number'],
    ['port: 8080.0', 'SVCD_PORT (port in the configuration file) must be a whole number'],
    ['port: 1e3', 'SVCD_PORT (port in the configuration file) must be a whole number'],
    ['port: 70000', 'must be a whole number from 1 to 65535; got "70000"'],
    ['log-level: {}', 'SVCD_LOG_LEVEL (log-level in the configuration file) must be a single value'],
    ['smtp_password: 0123', 'must be text: put it in quotes'],
    ['features_config: { a: 1 }', 'features_config has a value that is not text: put that of a in quotes'],
  ])('%s in the file names the key', async (yaml, reason) => {
    expect((await refusal({}, yaml)).message).toContain(reason)
  })

  test('all problems are reported together', async () => {
    const error = await refusal(
      { SVCD_PORT: 'x', SVCD_STATE_DIR: undefined, SVCD_DATA_DIR: '', SVCD_JWT_SECRET: 'short' },
      'disk_watchdog_warn_percent: 95\nlisten: a/b',
    )
    expect(error.message).toContain('The configuration has 6 problems:')
    expect(error.problems.map(({ setting }) => setting).toSorted()).toEqual([
      'SVCD_DATA_DIR',
      'SVCD_DISK_WATCHDOG_WARN_PERCENT',
      'SVCD_JWT_SECRET',
      'SVCD_LISTEN',
      'SVCD_PORT',
      'SVCD_STATE_DIR',
    ])
  })

  test('warnings come with the problems, since a mistyped name may explain what is missing', async () => {
    const error = await refusal({ SVCD_STATE_DIR: undefined, SVCD_STATEDIR: '/srv/state' })
    expect(error.message).toContain('SVCD_STATE_DIR must be set')
    expect(error.warnings).toEqual([expect.stringContaining('SVCD_STATEDIR (did you mean SVCD_STATE_DIR?)')])
  })

  test('a broken CONFIG_DIR reference stops before any file is touched', async () => {
    await expect(loadSettings({ env: { SVCD_CONFIG_DIR: 'file:/nowhere/x' } })).rejects.toThrow(
      'SVCD_CONFIG_DIR refers',
    )
  })
})

describe('accepted forms', () => {
  test.each([
    ['tls://logs.example', { protocol: 'tls', host: 'logs.example', port: 6514 }],
    ['tcp://[::1]:1514', { protocol: 'tcp', host: '::1', port: 1514 }],
    ['logs.example', { protocol: 'tcp', host: 'logs.example', port: 514 }],
  ])('syslog target %s', async (text, target) => {
    expect((await load({ SVCD_AUDIT_FORWARD_SYSLOG: text })).settings.audit.forwardSyslog).toEqual(target)
  })

  test.each([
    ['/', ''],
    ['svc/', '/svc'],
    ['/a/b', '/a/b'],
  ])('base path %s is kept as %j', async (text, kept) => {
    expect((await load({ SVCD_HOSTING_BASE_PATH: text })).settings.hosting.basePath).toBe(kept)
  })

  test.each(['example.com', '.example.com:443', '*.example.com', '10.0.0.0/8:5432'])('destination %s', async (text) => {
    const { egress } = (await load({ SVCD_NETFILTER_DEFAULT_DOMAINS: text })).settings
    expect(egress.netfilterDefaultDomains).toEqual([text])
  })
})

describe('names', () => {
  test('unknown variables and keys are named in one warning, with the likely name', async () => {
    const { warnings } = await load({ SVCD_LISTN: 'x', SVCD_WHATEVER_ELSE: '1', OTHER: '1' }, 'log-levl: INFO')
    expect(warnings).toEqual([
      'Unknown settings, ignored: SVCD_LISTN (did you mean SVCD_LISTEN?), SVCD_WHATEVER_ELSE, log-levl (did you mean log_level?)',
    ])
  })

  test.each([
    ['SVCD_PROXY_PORT', 'use SVCD_EGRESS_PORT'],
    ['SVCD_ENABLE_PING', 'no longer needed'],
    ['SVCD_CADDY_ADMIN_SOCKET', 'no longer needed'],
    ['SVCD_PROXY_BIN', 'no longer needed'],
    ['SVCD_VOLUME_QUOTA_PER_USER', 'use SVCD_VOLUME_QUOTA_PER_WORKSPACE'],
  ])('%s is retired: a warning, no effect', async (name, instead) => {
    const { warnings, settings } = await load({ [name]: '1' })
    expect(warnings).toEqual([`Settings that are ignored: ${name} (${instead})`])
    expect(settings.egress.port).toBe(8995)
  })

  test('a setting without a variable cannot be given by one', async () => {
    const { warnings } = await load({ SVCD_FEATURES_CONFIG: '{}' })
    expect(warnings[0]).toContain('Unknown settings, ignored: SVCD_FEATURES_CONFIG')
  })

  test('settings whose feature is not built are accepted with one warning', async () => {
    const { warnings } = await load({ SVCD_FIPS_MODE: '1' }, 'disable_tmux: true\nport: 8080')
    expect(warnings).toEqual([
      'Settings accepted, but not in effect in this version: SVCD_DISABLE_TMUX, SVCD_FIPS_MODE',
    ])
  })
})

describe("a secret's value", () => {
  const secret = 'hunter2-hunter2-HUNTER2-0123456789abcdef'
  const given = {
    SVCD_JWT_SECRET: secret,
    SVCD_DEFAULT_PASSWORD: secret,
    SVCD_AUDIT_HMAC_KEY: secret,
    SVCD_AUDIT_FORWARD_HEADER: `Authorization: ${secret}`,
    SVCD_AUDIT_FORWARD_URL: `https://logs.example/${secret}`,
    SVCD_ADMIN_NOTIFICATION_WEBHOOK_URL: `https://chat.example/${secret}`,
    SVCD_SMTP_PASSWORD: secret,
    SVCD_METRICS_TOKEN: secret,
    SVCD_LLM_API_KEY: secret,
    SVCD_LLM_MODELS: `openai/gpt:https://llm.example:${secret}`,
    SVCD_DATABASE_URL: `postgres://svc:${secret}@db.example/svc`,
  }
  const yaml = `
features_config: { token: ${secret} }
oidc_providers: [{ id: corp, issuer: https://id.example, client-id: svc, client-secret: ${secret} }]`

  test('is there for the program and nowhere else', async () => {
    const loaded = await load(given, yaml)
    expect(loaded.settings.auth.jwtSecret?.reveal()).toBe(secret)
    expect(loaded.settings.oidc.providers[0]?.clientSecret?.reveal()).toBe(secret)
    const everywhere = [
      printSettings(loaded.entries),
      JSON.stringify(loaded),
      inspect(loaded, { depth: null, showHidden: true }),
      `${loaded.settings.auth.jwtSecret}`,
    ]
    for (const text of everywhere) expect(text).not.toContain('hunter2')
  })

  test('is not in an error, whatever is wrong with it', async () => {
    const bad = Object.fromEntries(Object.keys(given).map((name) => [name, `hunter2 \u0007 ${name}`]))
    const { message, problems } = await refusal(
      { ...bad, SVCD_LOGO_URL: 'https://ann:hunter2@example.com', SVCD_TEST_MODE: 'cmd:echo hunter2' },
      'features_config: hunter2\noidc_providers: hunter2\njwt_secret: [hunter2]',
    )
    expect(problems.length).toBeGreaterThan(7)
    expect(message).not.toContain('hunter2')
  })
})
