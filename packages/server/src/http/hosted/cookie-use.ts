import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a browser sent its cookie because of a page of the same application, or because its user goes there. A page
 * of another workspace may count as the same site, and could otherwise speak to an application in their name.
 */
export function mayUseCookie(method: string, headers: IncomingHttpHeaders, host: string | undefined): boolean {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest } = headers
  const goesThere = mode === 'navigate' && dest === 'document' && (method === 'GET' || method === 'HEAD')
  if (goesThere) return true
  if (origin !== undefined && !isOf(origin, host)) return false
  return site === undefined || site === 'same-origin' || site === 'none'
}

const isOf = (origin: string, host: string | undefined): boolean =>
  host !== undefined && URL.parse(origin)?.host === hostOf(host)

/** As URLs write it: without the port that the scheme has anyway. */
const hostOf = (host: string): string | undefined => URL.parse(`http://${host}`)?.host.replace(/:443$/, '')
