/**
 * Search parameters of a route are plain strings. The router's own way turns `?token=1e5` into a number
 * and writes quotes around strings that look like one.
 */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search))
}

/** Slashes stay readable: they need no escape here, and links such as `#/api?op=get-/health` are shared by people. */
export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%2F', '/')
}
