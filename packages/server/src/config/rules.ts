import { isIP } from 'node:net'
import type { Problem } from './config-error.ts'
import { isLoopback } from './formats.ts'
import type { Settings } from './settings.ts'

/** What a rule found: something to correct, or something to say aloud. */
type Finding = { readonly problem: string } | { readonly warning: string }

/** A statement about several settings together. Pure, and asked only when each of them is valid by itself. */
export interface Rule {
  /** The settings it reads; the first one is named when it is broken. */
  readonly about: readonly [string, ...string[]]
  /** `isSet` tells whether the operator gave a value. */
  check(settings: Settings, isSet: (name: string) => boolean): Finding | undefined
}

/** Longest path a socket address holds on every system we run on, in bytes. */
const SOCKET_PATH_BYTES = 104

const TOKEN_HOURS = 87_600

/** What the password hash takes. */
const PASSWORD_BYTES = 72

export const rules: readonly Rule[] = [
  {
    about: ['SVCD_AUTH_MODES', 'SVCD_LISTEN', 'SVCD_PORT', 'SVCD_ALLOW_INSECURE_NO_AUTH'],
    check(settings) {
      if (settings.auth.modes !== 'none' || !reachableFromOutside(settings)) return undefined
      if (settings.auth.allowInsecureNoAuth) {
        return {
          warning:
            'Nobody is asked to sign in, and other machines can reach SVCD_LISTEN: SVCD_ALLOW_INSECURE_NO_AUTH is on',
        }
      }
      return {
        problem:
          'is none, which is only safe on a loopback address: set SVCD_LISTEN to 127.0.0.1, or SVCD_AUTH_MODES to password, oidc or both',
      }
    },
  },
  {
    about: ['SVCD_TEST_MODE', 'SVCD_LISTEN', 'SVCD_PORT'],
    check(settings) {
      if (!settings.auth.testMode) return undefined
      if (reachableFromOutside(settings)) return { problem: 'is only allowed while SVCD_LISTEN is a loopback address' }
      return { warning: 'TEST MODE IS ON: new accounts are verified without a mail' }
    },
  },
  {
    about: ['SVCD_EGRESS_PORT', 'SVCD_PORT'],
    check({ egress, network }) {
      if (egress.port !== network.port) return undefined
      return { problem: 'must differ from SVCD_PORT' }
    },
  },
  {
    about: ['SVCD_SOCKET', 'SVCD_STATE_DIR'],
    check({ network }) {
      if (Buffer.byteLength(network.socket) <= SOCKET_PATH_BYTES) return undefined
      return {
        problem: `must be a path of at most ${SOCKET_PATH_BYTES} bytes: set it, or use a shorter SVCD_STATE_DIR`,
      }
    },
  },
  {
    about: ['SVCD_TLS_HOSTNAME', 'SVCD_TLS_ISSUER', 'SVCD_PORT'],
    check({ tls, network }) {
      if (tls.hostname === undefined) return undefined
      if (network.port === undefined) return { problem: 'needs SVCD_PORT' }
      if (tls.issuer === 'acme' && (isIP(tls.hostname) !== 0 || !tls.hostname.includes('.'))) {
        return { problem: 'must be a public name with a dot, not an address, when SVCD_TLS_ISSUER is acme' }
      }
      if (isIP(tls.hostname) === 6) return { problem: 'must be a host name or an IPv4 address' }
      // Serving plain HTTP where the operator asked for HTTPS would be a silent downgrade.
      return {
        problem: 'cannot be used: this version does not serve HTTPS itself; unset it and put a reverse proxy in front',
      }
    },
  },
  {
    about: ['SVCD_TLS_ISSUER', 'SVCD_TLS_HOSTNAME'],
    check({ tls }, isSet) {
      if (!isSet('SVCD_TLS_ISSUER') || tls.hostname !== undefined) return undefined
      return { warning: 'SVCD_TLS_ISSUER has no effect without SVCD_TLS_HOSTNAME' }
    },
  },
  {
    about: ['SVCD_ACME_EMAIL', 'SVCD_TLS_ISSUER'],
    check({ tls }) {
      if (tls.acmeEmail === undefined || tls.issuer !== 'internal') return undefined
      return { warning: 'SVCD_ACME_EMAIL has no effect while SVCD_TLS_ISSUER is internal' }
    },
  },
  {
    about: ['SVCD_AUTH_MODES', 'SVCD_OIDC_CONFIG', 'oidc_providers'],
    check({ auth, oidc }) {
      const wantsProviders = auth.modes === 'oidc' || auth.modes === 'both'
      if (!wantsProviders || oidc.providers.length > 0) return undefined
      return {
        problem: `is ${auth.modes}, which needs a provider: set SVCD_OIDC_CONFIG, or oidc_providers in the file`,
      }
    },
  },
  {
    about: [
      'SVCD_MIN_PASSWORD_LENGTH',
      'SVCD_PASSWORD_REQUIRE_UPPER',
      'SVCD_PASSWORD_REQUIRE_LOWER',
      'SVCD_PASSWORD_REQUIRE_DIGIT',
      'SVCD_PASSWORD_REQUIRE_SPECIAL',
    ],
    check({ passwords }) {
      const { minLength, requireUpper, requireLower, requireDigit, requireSpecial } = passwords
      const characters = Math.max(minLength, requireUpper + requireLower + requireDigit + requireSpecial)
      if (characters <= PASSWORD_BYTES) return undefined
      return {
        problem: `and the required characters ask for ${characters}, but no password may exceed ${PASSWORD_BYTES} bytes`,
      }
    },
  },
  {
    about: ['SVCD_LOGIN_LOCKOUT_FAILURES', 'SVCD_LOGIN_LOCKOUT_WINDOW', 'SVCD_LOGIN_LOCKOUT_DURATION'],
    check({ auth: { lockoutFailures, lockoutWindowSeconds, lockoutDurationSeconds } }) {
      if (lockoutFailures === 0 || (lockoutWindowSeconds > 0 && lockoutDurationSeconds > 0)) return undefined
      return { problem: 'must be 0 to turn the lockout off: with a window or a duration of 0 it would never lock' }
    },
  },
  {
    about: ['SVCD_ACCESS_TOKEN_HOURS'],
    check({ sessions }) {
      if (sessions.accessTokenHours <= TOKEN_HOURS) return undefined
      return { problem: `must be at most ${TOKEN_HOURS}, which is ten years` }
    },
  },
  {
    about: ['SVCD_TRUSTED_PROXY_CIDRS'],
    check({ network }) {
      const everybody = network.trustedProxyCidrs.find((cidr) => cidr.endsWith('/0'))
      if (everybody === undefined) return undefined
      return { warning: `SVCD_TRUSTED_PROXY_CIDRS holds ${everybody}: every client may claim any address` }
    },
  },
  {
    about: ['SVCD_PASSWORD_MIN_AGE_HOURS', 'SVCD_PASSWORD_MAX_AGE_DAYS'],
    check({ passwords: { minAgeHours, maxAgeDays } }) {
      if (maxAgeDays === 0 || minAgeHours <= maxAgeDays * 24) return undefined
      return { problem: 'must not be longer than SVCD_PASSWORD_MAX_AGE_DAYS: an expired password could not be changed' }
    },
  },
  {
    about: ['SVCD_MEMORY_EVICTION_RECOVERY_PERCENT', 'SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT'],
    check({ capacity }) {
      if (capacity.evictionRecoveryPercent >= capacity.evictionThresholdPercent) return undefined
      return { problem: 'must not be below SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT' }
    },
  },
  warnBelowCritical('DISK', ({ capacity }) => [capacity.diskWarnPercent, capacity.diskCriticalPercent]),
  warnBelowCritical('MEMORY', ({ capacity }) => [capacity.memoryWarnPercent, capacity.memoryCriticalPercent]),
  warnBelowCritical('CPU', ({ capacity }) => [capacity.cpuWarnPercent, capacity.cpuCriticalPercent]),
  {
    about: ['SVCD_LOGIN_BANNER', 'SVCD_LOGIN_BANNER_TITLE', 'SVCD_LOGIN_BANNER_EVERY_VISIT'],
    check({ branding }) {
      if (branding.loginBanner !== '' || !(branding.loginBannerTitle || branding.loginBannerEveryVisit))
        return undefined
      return { warning: 'SVCD_LOGIN_BANNER_TITLE and _EVERY_VISIT have no effect without SVCD_LOGIN_BANNER' }
    },
  },
]

function warnBelowCritical(metric: string, levels: (settings: Settings) => readonly [number, number]): Rule {
  const critical = `SVCD_${metric}_WATCHDOG_CRITICAL_PERCENT`
  return {
    about: [`SVCD_${metric}_WATCHDOG_WARN_PERCENT`, critical],
    check(settings) {
      const [warnPercent, criticalPercent] = levels(settings)
      return warnPercent < criticalPercent ? undefined : { problem: `must be below ${critical}` }
    },
  }
}

/** Without a port there is no browser listener, only the private socket. */
function reachableFromOutside({ network }: Settings): boolean {
  return network.port !== undefined && !isLoopback(network.listen)
}

/** Asks every rule whose settings are all usable. */
export function checkRules(
  settings: Settings,
  facts: { readonly isSet: (name: string) => boolean; readonly isUsable: (name: string) => boolean },
): { readonly problems: readonly Problem[]; readonly warnings: readonly string[] } {
  const problems: Problem[] = []
  const warnings: string[] = []
  for (const { about, check } of rules) {
    if (!about.every(facts.isUsable)) continue
    const finding = check(settings, facts.isSet)
    if (finding && 'problem' in finding) problems.push({ setting: about[0], message: finding.problem })
    if (finding && 'warning' in finding) warnings.push(finding.warning)
  }
  return { problems, warnings }
}
