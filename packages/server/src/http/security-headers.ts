/** On every answer. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const

/** On every answer of a route: it may hold what only this caller should see. Nobody keeps it, so it needs no `Vary`. */
export const API_HEADERS = { ...COMMON_HEADERS, 'cache-control': 'no-store' } as const

/** What differs from page to page and from server to server. */
export interface PagePolicy {
  readonly styleNonce: string
  readonly connectOrigins: readonly string[]
  /** A logo elsewhere may be shown; one of our own needs no permission. */
  readonly logoUrl: string | undefined
}

/** On every page. It is made anew for each answer, so it is never stored. */
export function pageHeaders(page: PagePolicy): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy(page),
    'x-frame-options': 'DENY',
    'cache-control': 'no-cache, no-store, must-revalidate',
  }
}

function contentSecurityPolicy({ styleNonce, connectOrigins, logoUrl }: PagePolicy): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    // The component library writes its variables into a <style> element; the nonce lets that one in and no other.
    `style-src 'self' 'nonce-${styleNonce}'`,
    ["img-src 'self' data: blob:", ...(logoUrl?.startsWith('http') ? [originOf(logoUrl)] : [])].join(' '),
    "font-src 'self'",
    ["connect-src 'self'", ...connectOrigins.map(originOf)].join(' '),
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

/** Scheme, host and port only: a path in the policy would be read as a rule of its own. */
const originOf = (url: string): string => new URL(url).origin
