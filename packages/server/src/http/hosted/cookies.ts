import { HOSTED_COOKIE } from '../../kernel/hosted-address.ts'

/** A `Cookie` header without ours, and the values ours had. Undefined when nothing is left. */
export function takeOutOwnCookies(header: string | undefined): { rest: string | undefined; own: readonly string[] } {
  if (header === undefined) return { rest: undefined, own: [] }
  const own: string[] = []
  const rest: string[] = []
  for (const pair of header.split(';')) {
    const text = pair.trim()
    if (text === '') continue
    const equals = text.indexOf('=')
    if (text.slice(0, Math.max(equals, 0)).trim() === HOSTED_COOKIE) own.push(text.slice(equals + 1).trim())
    else rest.push(text)
  }
  return { rest: rest.length > 0 ? rest.join('; ') : undefined, own }
}

/**
 * An application's cookie, kept within its own addresses. Undefined when it has our cookie's name: an application must
 * not put another in its place.
 */
export function confineCookie(setCookie: string, prefix: string): string | undefined {
  const [pair = '', ...attributes] = setCookie.split(';').map((part) => part.trim())
  // A cookie without a name is its value alone, and that may look like another cookie with its name.
  const [name = ''] = pair.replace(/^[\s=]+/, '').split('=')
  if (name.trim() === HOSTED_COOKIE) return undefined
  const kept = attributes.filter((attribute) => !/^(?:domain|path)\s*(?:=|$)/i.test(attribute))
  const path = attributes.findLast((attribute) => /^path\s*=/i.test(attribute))?.replace(/^path\s*=\s*/i, '')
  return [pair, ...kept, `Path=${withinPrefix(path, prefix)}`].join('; ')
}

/** `prefix` ends with a slash. */
function withinPrefix(path: string | undefined, prefix: string): string {
  if (path === undefined || !path.startsWith('/')) return prefix
  if (path.startsWith(prefix) || `${path}/` === prefix) return path
  return `${prefix}${path.slice(1)}`
}
