import { isUuid } from '../../kernel/uuid.ts'

/** What a request is for. */
export interface HostedTarget {
  readonly workspaceId: string
  readonly hostPort: number
  /** As the application gets it: path and query, not a character changed. Undefined when the slash is missing. */
  readonly path: string | undefined
  /** From the question mark on; empty without one. */
  readonly query: string
}

/** Some clients write the host before the path. */
const WITH_HOST = /^https?:\/\/[^/?]*/i
const TARGET = /^\/hosted\/([^/?]*)\/([1-9]\d{0,4})(\/[^?]*)?(\?.*)?$/s

/** Whether it is ours to answer, be it well written or not. */
export function isHosted(url: string): boolean {
  const path = url.replace(WITH_HOST, '')
  return path.startsWith('/hosted/') || path === '/hosted' || path.startsWith('/hosted?')
}

/**
 * Cuts the address where it is written to be cut. Nothing is decoded and no `..` is followed: all of it would only
 * make another address of it, and whose application it is for must not depend on that.
 */
export function parseHostedUrl(url: string): HostedTarget | undefined {
  const [, workspaceId = '', port = '', path, query = ''] = TARGET.exec(url.replace(WITH_HOST, '')) ?? []
  const hostPort = Number(port)
  if (!isUuid(workspaceId) || hostPort > 65_535) return undefined
  return { workspaceId, hostPort, path: path === undefined ? undefined : `${path}${query}`, query }
}
