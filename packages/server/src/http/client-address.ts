import { BlockList, isIP, isIPv4 } from 'node:net'

/** Addresses whose word about the real client we take. */
export function proxyList(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * The address of the person behind a request. Forwarded headers count only when the peer itself is trusted, and
 * `X-Forwarded-For` is read from the right: what a client wrote stands on the left, what our proxies saw on the right.
 * `peer` is undefined on the private Unix socket, whose users count as a trusted proxy.
 */
export function effectiveAddress(
  peer: string | undefined,
  headers: Headers,
  isTrusted: (address: string) => boolean,
): string | undefined {
  const nearest = peer === undefined ? undefined : plainAddress(peer)
  const forwarded = headers['x-forwarded-for']
  const real = headers['x-real-ip']
  if (forwarded === undefined && real === undefined) return nearest
  if (nearest !== undefined && !isTrusted(nearest)) return nearest
  if (forwarded === undefined) return plainAddress(String(real).trim()) ?? nearest
  let address = nearest
  for (const hop of String(forwarded).split(',').reverse()) {
    const next = plainAddress(hop.trim())
    // A hop that is no address was not written by a proxy of ours: stop at the last one we believe.
    if (next === undefined) break
    address = next
    if (!isTrusted(next)) break
  }
  return address
}

/** One spelling per address: IPv4 inside IPv6 is unwrapped, zone and port are dropped. Undefined when it is none. */
export function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text // by far the most common
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.split(':')[0] : text)
  const address = bare?.split('%')[0] ?? ''
  if (isIP(address) === 0) return undefined
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address.toLowerCase()
}

const loopback = proxyList(['127.0.0.0/8', '::1'])

export function isLoopback(address: string): boolean {
  return inList(loopback, address)
}

export function inList(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}
