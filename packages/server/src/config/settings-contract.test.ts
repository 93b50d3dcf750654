import { describe, expect, test } from 'vitest'
import { InvalidValue } from './invalid-value.ts'
import type { Reload } from './row.ts'
import { settingRows } from './settings.ts'

// Typed by hand from the specification ("Limits") and the fact sheet (settings, 1.5), never from the rows: a default,
// a bound or a reload class that changes here is a change of the contract with every operator.

/** Texts a setting takes, with the value each becomes, and texts it does not take. */
interface Bounds {
  readonly accepts: readonly (readonly [string, unknown])[]
  readonly refuses: readonly string[]
  /** What the row calls its type, where only that tells a further word. */
  readonly type?: string
}

/** A setting whose form other tests look after: text, paths, addresses, lists, secrets. */
const free: Bounds = { accepts: [], refuses: [] }

const yesNo: Bounds = {
  accepts: [
    ['on', true],
    ['off', false],
  ],
  refuses: ['maybe'],
}

/** Switches that any word but a false one turns on. */
const anyWord: Bounds = {
  accepts: [
    ['maybe', true],
    ['off', false],
  ],
  refuses: [],
}

function whole(min: number, max?: number): Bounds {
  const largest = max ?? Number.MAX_SAFE_INTEGER
  return {
    accepts: [
      [String(min), min],
      [String(largest), largest],
    ],
    refuses: [String(min - 1), `${min}.5`, ...(max === undefined ? [] : [String(max + 1)])],
  }
}

function aboveZero(options: { max?: number; raisedTo?: number } = {}): Bounds {
  const { max, raisedTo } = options
  return {
    accepts: [
      ['0.001', raisedTo ?? 0.001],
      [String(max ?? 1e15), max ?? 1e15],
    ],
    refuses: ['0', '-1', 'NaN', 'Infinity', ...(max === undefined ? [] : [String(max + 0.1)])],
  }
}

const size: Bounds = {
  accepts: [
    ['1', 1],
    ['1.5k', 1536],
    ['2GB', 2 * 1024 ** 3],
  ],
  refuses: ['0', '1gib', '-1'],
}

const port = whole(1, 65535)
const percent = aboveZero({ max: 100 })
const poll = aboveZero({ raisedTo: 1 })

function oneOf(...words: string[]): Bounds {
  return {
    accepts: words.map((word) => [word, word]),
    refuses: ['something else'],
    type: `one of ${words.join(', ')}`,
  }
}

const unset = undefined
const GIB = 1024 ** 3

const everyEvent = [
  ...['user.create', 'user.register', 'user.update', 'user.delete', 'user.unlock', 'user.disable', 'user.enable'],
  ...['user.password.change', 'user.email.change', 'user.handle.change', 'group.member.add', 'group.member.remove'],
  ...['audit.failure', 'resource.low'],
  ...['resource.disk.warn', 'resource.disk.critical', 'resource.disk.recovered'],
  ...['resource.memory.warn', 'resource.memory.critical', 'resource.memory.recovered'],
  ...['resource.cpu.warn', 'resource.cpu.critical', 'resource.cpu.recovered'],
]

/** Name, default, bounds, and the reload class where it is not `live`. */
type Line = readonly [name: string, value: unknown, bounds: Bounds, reload?: Reload]

const identityAndSessions: readonly Line[] = [
  ['SVCD_AUTH_MODES', 'none', oneOf('none', 'password', 'oidc', 'both')],
  ['SVCD_JWT_SECRET', unset, free],
  ['SVCD_PREVENT_INSECURE_JWT_SECRET', false, yesNo],
  ['SVCD_DEFAULT_USER', 'ann@example.com', free, 'seed'],
  ['SVCD_DEFAULT_PASSWORD', unset, free, 'seed'],
  ['SVCD_ACCESS_TOKEN_HOURS', 24, aboveZero()],
  ['SVCD_WORKSPACE_TOKEN_HOURS', 24, aboveZero()],
  ['SVCD_MIN_PASSWORD_LENGTH', 8, whole(0)],
  ['SVCD_PASSWORD_REQUIRE_UPPER', 0, whole(0, 72)],
  ['SVCD_PASSWORD_REQUIRE_LOWER', 0, whole(0, 72)],
  ['SVCD_PASSWORD_REQUIRE_DIGIT', 0, whole(0, 72)],
  ['SVCD_PASSWORD_REQUIRE_SPECIAL', 0, whole(0, 72)],
  ['SVCD_PASSWORD_HISTORY_COUNT', 0, whole(0, 24)],
  ['SVCD_PASSWORD_MIN_CHANGED', 0, whole(0, 72)],
  ['SVCD_PASSWORD_MIN_AGE_HOURS', 0, whole(0, 8760)],
  ['SVCD_PASSWORD_MAX_AGE_DAYS', 0, whole(0, 3650)],
  ['SVCD_LOGIN_LOCKOUT_FAILURES', 5, whole(0)],
  ['SVCD_LOGIN_LOCKOUT_WINDOW', 300, whole(0)],
  ['SVCD_LOGIN_LOCKOUT_DURATION', 900, whole(0)],
  ['SVCD_MAX_SESSIONS_PER_USER', 0, whole(0)],
  ['SVCD_SESSION_IDLE_TIMEOUT_MINUTES', 0, whole(0)],
  ['SVCD_PRIVILEGED_SESSION_IDLE_TIMEOUT_MINUTES', 10, whole(0)],
  ['SVCD_SESSION_WORKSTATION_BINDING', 'off', oneOf('off', 'ip', 'strict')],
  ['SVCD_STEP_UP_WINDOW_MINUTES', 0, whole(0)],
  ['SVCD_WEB_BIND_GRACE_SECONDS', 300, whole(0)],
  ['SVCD_INACTIVITY_DISABLE_DAYS', 35, whole(0)],
  ['SVCD_DISABLE_REGISTRATION', false, anyWord],
  ['SVCD_DISABLE_INVITES', false, anyWord],
  ['SVCD_INVITE_EXPIRE_HOURS', 72, whole(1)],
  ['SVCD_ALLOW_INSECURE_NO_AUTH', false, yesNo, 'restart'],
  ['SVCD_TRUSTED_PROXY_CIDRS', ['127.0.0.1', '::1'], free],
  ['SVCD_REJECT_PROXY_HEADERS', false, yesNo],
  ['SVCD_TEST_MODE', false, yesNo, 'restart'],
]

const oidcAndHooks: readonly Line[] = [
  ['SVCD_OIDC_CONFIG', unset, free],
  ['oidc_providers', [], free],
  ['SVCD_OIDC_LOGIN_HOOK', unset, free],
  ['SVCD_WORKSPACE_CREATED_HOOK', unset, free],
]

const network: readonly Line[] = [
  ['SVCD_LISTEN', '127.0.0.1', free, 'restart'],
  ['SVCD_PORT', unset, port, 'restart'],
  ['SVCD_EGRESS_LISTEN', '0.0.0.0', free],
  ['SVCD_EGRESS_PORT', 8995, port],
  ['SVCD_SOCKET', '/s/svcd.sock', free, 'restart'],
  ['SVCD_TLS_HOSTNAME', unset, free],
  ['SVCD_TLS_ISSUER', 'acme', oneOf('acme', 'internal')],
  ['SVCD_ACME_EMAIL', unset, free],
  ['SVCD_TRUSTED_CA_DIR', unset, free],
  ['SVCD_API_RATE_LIMIT', 0, whole(0)],
  ['SVCD_CORS_ORIGINS', unset, free],
  ['SVCD_CSP_CONNECT_ORIGINS', [], free],
  ['SVCD_HOSTING_HOSTNAME', unset, free],
  ['SVCD_HOSTING_PROTO', unset, oneOf('http', 'https')],
  ['SVCD_HOSTING_BASE_PATH', unset, free],
  ['SVCD_FRONTEND_DIR', unset, free],
  ['SVCD_WEBSOCKET_MSG_SIZE_MAX', 16777216, whole(1), 'restart'],
  ['SVCD_FILE_UPLOAD_SIZE_MAX', 524288000, whole(1)],
  ['SVCD_IMPORT_MAX_UNCOMPRESSED_MB', unset, whole(1)],
  ['SVCD_PORT_RANGE_START', 9000, port],
  ['SVCD_HOSTED_PORTS_PER_WORKSPACE', 5, whole(0)],
  ['SVCD_CONTAINER_SUBNETS', unset, free],
  ['SVCD_DNS_SERVERS', unset, free],
  ['SVCD_DNS_SEARCH', unset, free],
  ['SVCD_BRIDGE_TIMEOUT_SECONDS', 30, aboveZero()],
  ['SVCD_IDLE_TIMEOUT_SECONDS', 3600, whole(0)],
  ['SVCD_QUIESCE_TIMEOUT', 15, aboveZero()],
]

const directories: readonly Line[] = [
  ['SVCD_STATE_DIR', unset, free, 'restart'],
  ['SVCD_DATA_DIR', unset, free, 'restart'],
  ['SVCD_CONFIG_DIR', '/c', free, 'restart'],
  ['SVCD_CUSTOMIZE_DIR', '/c/custom', free],
]

const containers: readonly Line[] = [
  ['SVCD_IMAGE_NAME', 'svc-workspace:latest', free],
  ['SVCD_IMAGE_PULL_POLICY', 'never', oneOf('never', 'missing', 'always', 'newer')],
  ['SVCD_NETWORK_SIDECAR_IMAGE', 'svc-network-sidecar:latest', free],
  ['SVCD_ALLOWED_IMAGES', [], free],
  ['SVCD_ALLOWED_MOUNT_ROOTS', [], free],
  ['SVCD_CONTAINER_CPU_LIMIT', 2, aboveZero()],
  ['SVCD_CONTAINER_MEMORY_LIMIT', 8 * GIB, size],
  ['SVCD_CONTAINER_TMP_SIZE', 2 * GIB, size],
  ['SVCD_CONTAINER_PIDS_LIMIT', 16384, whole(1)],
  ['SVCD_ADMISSION_MEMORY_ENABLED', false, yesNo],
  ['SVCD_ADMISSION_MEMORY_MARGIN', GIB, size],
  ['SVCD_MAX_RUNNING_WORKSPACES_PER_USER', 0, whole(0)],
  ['SVCD_VOLUME_QUOTA_PER_WORKSPACE', 0, whole(0)],
  ['SVCD_MEMORY_EVICTION_ENABLED', true, yesNo],
  ['SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT', 10, percent],
  ['SVCD_MEMORY_EVICTION_RECOVERY_PERCENT', 15, percent],
  ['SVCD_MEMORY_EVICTION_SUSTAIN_POLLS', 3, whole(1)],
  ['SVCD_MEMORY_EVICTION_POLL_INTERVAL', 10, poll],
  ['SVCD_RESOURCE_WATCHDOG_ENABLED', true, yesNo],
  ['SVCD_RESOURCE_WATCHDOG_POLL_INTERVAL', 60, poll],
  ['SVCD_DISK_WATCHDOG_WARN_PERCENT', 75, percent],
  ['SVCD_DISK_WATCHDOG_CRITICAL_PERCENT', 90, percent],
  ['SVCD_DISK_WATCHDOG_PATHS', [], free],
  ['SVCD_MEMORY_WATCHDOG_ENABLED', true, yesNo],
  ['SVCD_MEMORY_WATCHDOG_WARN_PERCENT', 80, percent],
  ['SVCD_MEMORY_WATCHDOG_CRITICAL_PERCENT', 90, percent],
  ['SVCD_CPU_WATCHDOG_ENABLED', true, yesNo],
  ['SVCD_CPU_WATCHDOG_WARN_PERCENT', 30, percent],
  ['SVCD_CPU_WATCHDOG_CRITICAL_PERCENT', 60, percent],
  ['SVCD_CONTAINER_RESTART_ENABLED', false, yesNo],
  ['SVCD_CONTAINER_RESTART_MAX_RETRIES', 5, whole(1)],
  ['SVCD_CONTAINER_RESTART_BACKOFF_SECONDS', 5, aboveZero()],
  ['SVCD_HEALTH_CHECK_INTERVAL', 30, aboveZero()],
  ['SVCD_HEALTH_CHECK_STARTUP_GRACE', 30, aboveZero()],
  ['SVCD_HEALTH_CHECK_TIMEOUT', 10, aboveZero()],
  ['SVCD_ALLOW_SUDO', true, yesNo],
  ['SVCD_PER_HANDLE_HOME', false, yesNo],
  ['SVCD_ALLOW_AUTOSTART', false, yesNo],
  ['SVCD_DISABLE_TMUX', false, yesNo],
  ['SVCD_BROWSER_DELEGATE_ENABLED', true, yesNo],
  ['SVCD_NETFILTER_ENABLED', true, yesNo],
  ['SVCD_NETFILTER_DEFAULT_DOMAINS', [], free],
  ['SVCD_EGRESS_CONSENT_RATE_LIMIT', 50, whole(0)],
  ['SVCD_EGRESS_CONSENT_TIMEOUT', 120, aboveZero()],
  ['SVCD_CONSENT_DECIDER_TIMEOUT', 45, aboveZero()],
  ['SVCD_NIX_ENABLED', false, yesNo],
  ['SVCD_NIX_SEED__TYPE', 'fuse-overlayfs', oneOf('fuse-overlayfs', 'btrfs-snapshot')],
  ['SVCD_NIX_SEED__PATH', unset, free],
  ['SVCD_USERNS', 'keep-id:uid=1000,gid=1000', free, 'restart'],
  ['SVCD_PODMAN_BIN', 'podman', free, 'restart'],
  ['SVCD_FIPS_MODE', false, yesNo],
  ['SVCD_CLASSIFICATION_BANNER', '', { accepts: [['x'.repeat(120), 'x'.repeat(120)]], refuses: ['x'.repeat(121)] }],
]

const auditAndNotification: readonly Line[] = [
  ['SVCD_AUDIT_HMAC_KEY', unset, { accepts: [], refuses: ['x'.repeat(31)] }],
  ['SVCD_AUDIT_FAIL_CLOSED', false, yesNo],
  ['SVCD_AUDIT_EVENTS_RETENTION_DAYS', 365, whole(0)],
  ['SVCD_AUDIT_EVENTS_ROW_CAP', 100000, whole(0)],
  ['SVCD_CONTAINER_EVENTS_RETENTION_DAYS', 90, whole(0)],
  ['SVCD_CONTAINER_EVENTS_ROW_CAP', 10000, whole(0)],
  ['SVCD_EGRESS_CONSENT_RETENTION_DAYS', 30, whole(0)],
  ['SVCD_EGRESS_CONSENT_ROW_CAP', 2000, whole(0)],
  ['SVCD_AUDIT_FORWARD_URL', unset, free],
  ['SVCD_AUDIT_FORWARD_HEADER', unset, free],
  ['SVCD_AUDIT_FORWARD_SYSLOG', unset, free],
  ['SVCD_ADMIN_NOTIFICATION_EMAILS', [], free],
  ['SVCD_ADMIN_NOTIFICATION_WEBHOOK_URL', unset, free],
  ['SVCD_ADMIN_NOTIFY_EVENTS', everyEvent, { accepts: [], refuses: ['user.crate'] }],
]

const loggingMailBrandingFeatures: readonly Line[] = [
  ['SVCD_LOG_LEVEL', 'INFO', { accepts: [['debug', 'DEBUG']], refuses: ['chatty'] }],
  ['SVCD_LOG_FORMAT', 'text', oneOf('text', 'json')],
  ['SVCD_LOG_FILE', unset, free],
  ['SVCD_LOG_FILE_MAX_BYTES', 0, whole(0)],
  ['SVCD_LOG_FILE_ROTATE', unset, oneOf('hourly', 'daily', 'weekly', 'monthly')],
  ['SVCD_LOG_FILE_BACKUP_COUNT', 3, whole(0)],
  ['SVCD_SMTP_HOST', unset, free],
  ['SVCD_SMTP_PORT', 587, port],
  ['SVCD_SMTP_USER', unset, free],
  ['SVCD_SMTP_PASSWORD', unset, free],
  ['SVCD_SMTP_FROM', unset, free],
  ['SVCD_SMTP_REPLY_TO', unset, free],
  ['SVCD_SMTP_USE_TLS', true, yesNo],
  ['SVCD_SENDMAIL_PATH', 'sendmail', free],
  ['SVCD_EMAIL_TEMPLATES_DIR', unset, free],
  ['SVCD_PRODUCT_NAME', 'svc', free],
  ['SVCD_BRAND_COLOR', '#E65100', { accepts: [['#abc', '#abc']], refuses: ['#abcd', 'red'] }],
  ['SVCD_LOGO_URL', unset, free],
  ['SVCD_LOGIN_BANNER', '', free],
  ['SVCD_LOGIN_BANNER_TITLE', '', free],
  ['SVCD_LOGIN_BANNER_EVERY_VISIT', false, yesNo],
  ['SVCD_TERMINAL_BANNER', '', free],
  ['SVCD_TERMS_URL', unset, free],
  ['SVCD_PRIVACY_URL', unset, free],
  ['SVCD_AUP_URL', unset, free],
  ['SVCD_SUPPORT_URL', unset, free],
  ['SVCD_SUPPORT_EMAIL', unset, free],
  ['SVCD_FEATURES_ENABLE', unset, free],
  ['features_config', new Map(), free],
  ['SVCD_LLM_API_KEY', unset, free],
  ['SVCD_LLM_MODELS', [], free],
  ['SVCD_VERSION_FILE', unset, free],
]

/** Settings the two documents do not have. */
const ours: readonly Line[] = [
  ['SVCD_DATABASE_URL', unset, free, 'restart'],
  ['SVCD_ENGINE', 'auto', oneOf('auto', 'docker', 'local', 'kubernetes'), 'restart'],
  [
    'SVCD_HOSTED_APPS_HOSTNAME',
    unset,
    {
      accepts: [
        ['*.Apps.example.com:8443', '*.apps.example.com:8443'],
        ['apps.example.com', 'apps.example.com'],
        ['*.localhost:8080', '*.localhost:8080'],
      ],
      refuses: ['*', '*.', '*.10.0.0.1', 'a.*.example.com', 'https://apps.example.com', '*.a:0'],
    },
  ],
  ['SVCD_METRICS_TOKEN', unset, free],
  ['SVCD_WEBSOCKET_DEBUG', false, yesNo],
]

const contract: readonly Line[] = [
  ...identityAndSessions,
  ...oidcAndHooks,
  ...network,
  ...directories,
  ...containers,
  ...auditAndNotification,
  ...loggingMailBrandingFeatures,
  ...ours,
]

const places = { configDir: '/c', stateDir: '/s', osUser: 'ann' }
const context = { home: '/', baseDir: '/', readReference: () => Promise.reject(new Error('none')), warn: () => {} }
const rows = new Map(settingRows.map(({ row }) => [row.name, row]))

describe('the contract with the operator', () => {
  test('has exactly the settings of the server', () => {
    expect(contract.map(([name]) => name).toSorted()).toEqual([...rows.keys()].toSorted())
  })

  test('only the two storage locations are required', () => {
    const required = [...rows.values()].filter((row) => row.required).map(({ name }) => name)
    expect(required).toEqual(['SVCD_STATE_DIR', 'SVCD_DATA_DIR'])
  })

  test.each(contract.map((line) => [line[0], line] as const))(
    '%s',
    async (name, [, value, bounds, reload = 'live']) => {
      const row = rows.get(name)
      if (!row) throw new Error(`there is no setting ${name}`)
      expect([row.defaultValue(places), row.reload]).toEqual([value, reload])
      const { accepts, refuses, type = row.type } = bounds
      expect(row.type).toBe(type)
      for (const [text, parsed] of accepts) expect(await row.parse(text, context), text).toBe(parsed)
      for (const text of refuses)
        await expect((async () => row.parse(text, context))(), text).rejects.toThrow(InvalidValue)
    },
  )
})
