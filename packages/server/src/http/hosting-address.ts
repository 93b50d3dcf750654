import { isIPv6 } from 'node:net'
import { isLoopback, plainAddress } from './client-address.ts'

export interface HostingSettings {
  readonly hostingHostname: string | undefined
  readonly hostingProto: string | undefined
  readonly hostingBasePath: string | undefined
  readonly tlsHostname: string | undefined
  readonly listen: string
  readonly port: number | undefined
}

/** What the request claims about where it was sent. Forwarded values are present only when a trusted proxy spoke. */
export interface HostClaims {
  readonly host: string | undefined
  readonly forwardedHost: string | undefined
  readonly forwardedProto: string | undefined
  readonly forwardedPrefix: string | undefined
}

const SAFE_HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const SAFE_BASE_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/

/**
 * The address under which people reach this server, for links we write. A `Host` header is the client's own text: it
 * counts only when it names this machine, otherwise a forged one would steer password links to somebody else.
 */
export function externalUrl(claims: HostClaims, settings: HostingSettings): string {
  const scheme = proto(claims, settings)
  const path = basePath(claims, settings)
  const url = `${scheme}://${host(claims, settings)}${path}`
  return URL.canParse(url) ? url : `${scheme}://${ownHost(settings)}${path}`
}

function host(claims: HostClaims, settings: HostingSettings): string {
  if (settings.hostingHostname) return settings.hostingHostname
  if (claims.forwardedHost && SAFE_HOST.test(claims.forwardedHost)) return claims.forwardedHost.toLowerCase()
  if (claims.host && SAFE_HOST.test(claims.host) && isOurs(claims.host, settings)) return claims.host.toLowerCase()
  return ownHost(settings)
}

const ownHost = ({ port }: HostingSettings): string => (port === undefined ? 'localhost' : `localhost:${port}`)

function isOurs(hostHeader: string, settings: HostingSettings): boolean {
  const name = hostName(hostHeader)
  return isLoopbackName(name) || name === settings.tlsHostname?.toLowerCase() || name === settings.listen
}

/** The name in a `Host` value, without port and brackets, in lower case. */
export function hostName(hostHeader: string): string {
  const name = hostHeader.toLowerCase()
  if (name.startsWith('[')) return name.slice(1, name.indexOf(']'))
  return isIPv6(name) ? name : (name.split(':')[0] ?? '')
}

export function isLoopbackName(name: string): boolean {
  const address = plainAddress(name)
  return name === 'localhost' || (address !== undefined && isLoopback(address))
}

function proto(claims: HostClaims, settings: HostingSettings): string {
  if (settings.hostingProto) return settings.hostingProto
  if (claims.forwardedProto === 'https' || claims.forwardedProto === 'http') return claims.forwardedProto
  return settings.tlsHostname ? 'https' : 'http'
}

function basePath(claims: HostClaims, settings: HostingSettings): string {
  const path = settings.hostingBasePath ?? claims.forwardedPrefix ?? ''
  return SAFE_BASE_PATH.test(path) ? path.replace(/\/$/, '') : ''
}
