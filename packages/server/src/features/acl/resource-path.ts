/** A place in the tree that entries hang on. Text from outside becomes one only through `parseResourcePath`. */
export type ResourcePath = `/${string}`

/** The places that always exist, in the order clients list them. */
export const staticResources = [
  '/',
  '/workspaces',
  '/groups',
  '/users',
  '/invitations',
  '/server',
  '/events',
  '/acl',
  '/volumes',
  '/images',
] as const satisfies readonly ResourcePath[]

export type StaticResource = (typeof staticResources)[number]

/** Several times what `/workspaces/<id>/…` needs; it bounds how far a walk can go. */
const MAX_LENGTH = 256
/** Half a surrogate pair is refused too: a database would store another character, and paths are compared exactly. */
const FORBIDDEN = /[\\\p{Cc}\p{Cs}]/u
const WORKSPACE_PREFIX = '/workspaces/'

/** Each place has one spelling: whatever could be a second one is refused, not repaired. */
export function parseResourcePath(text: string): ResourcePath | undefined {
  if (text.length > MAX_LENGTH || FORBIDDEN.test(text) || !isAbsolute(text)) return undefined
  return text === '/' || text.slice(1).split('/').every(isName) ? text : undefined
}

const isAbsolute = (text: string): text is ResourcePath => text.startsWith('/')

const isName = (segment: string): boolean => segment !== '' && segment !== '.' && segment !== '..'

/** The place above; undefined above `/`. */
export function parentOf(path: ResourcePath): ResourcePath | undefined {
  if (path === '/') return undefined
  const above = path.slice(0, path.lastIndexOf('/'))
  return isAbsolute(above) ? above : '/'
}

/** The path itself, then each place above it, up to `/`. */
export function ancestorsOf(path: ResourcePath): ResourcePath[] {
  const nodes = [path]
  for (let node = parentOf(path); node !== undefined; node = parentOf(node)) nodes.push(node)
  return nodes
}

/** The workspace that a path is, or is below. */
export function workspaceIdIn(path: ResourcePath): string | undefined {
  if (!path.startsWith(WORKSPACE_PREFIX)) return undefined
  const end = path.indexOf('/', WORKSPACE_PREFIX.length)
  return path.slice(WORKSPACE_PREFIX.length, end === -1 ? undefined : end)
}

const statics: ReadonlySet<string> = new Set(staticResources)

/** Whether entries may be put here. Says nothing about whether that workspace exists. */
export const isInTree = (path: ResourcePath): boolean => statics.has(path) || workspaceIdIn(path) !== undefined
