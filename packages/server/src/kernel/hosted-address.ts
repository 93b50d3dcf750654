/** Where what a workspace hosts is found, and by which names a browser shows that it may. */

/** The cookie that lets a browser in. Never shown to an application. */
export const HOSTED_COOKIE = 'svc-hosted'
/** The query parameter that gives a browser the cookie on a host where it cannot be set otherwise. Good once. */
export const HOSTED_ENTRY = 'svc-hosted-entry'

/** `/base/hosted/<workspace>/` or `/base/hosted/<workspace>/<port>/`. */
export function hostedPath(externalUrl: string, workspaceId: string, hostPort?: number): string {
  const base = new URL(externalUrl).pathname.replace(/\/+$/, '')
  return `${base}/hosted/${workspaceId}/${hostPort === undefined ? '' : `${hostPort}/`}`
}

/**
 * The host, apart from the one of the web interface, under which browsers open what this workspace hosts; undefined when
 * there is none. Every name below `localhost` is this machine, so there nobody has to set anything up.
 */
export function appsAuthority(
  workspaceId: string,
  externalUrl: string,
  configured: string | undefined,
): string | undefined {
  const { host, hostname, port } = new URL(externalUrl)
  if (configured !== undefined) {
    const own = configured.startsWith('*.') ? `${workspaceId}${configured.slice(1)}` : configured
    return own === host ? undefined : own
  }
  if (!isThisMachine(hostname)) return undefined
  return `${workspaceId}.localhost${port === '' ? '' : `:${port}`}`
}

/** Of the names that a URL of ours can have: `[::1]` with its brackets. */
const isThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)

/** `Lax`: another site may lead people here, and can neither read, nor post, nor open sockets in their name. */
export function hostedCookie(cookie: { value: string; path: string; seconds: number; secure: boolean }): string {
  const { value, path, seconds, secure } = cookie
  const parts = [`${HOSTED_COOKIE}=${value}`, `Path=${path}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax']
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}
