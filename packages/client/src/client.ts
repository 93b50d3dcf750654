import { AuditStatus, Health, InstanceConfig, Version } from '@svc/protocol/instance'
import { OpenApiDocument } from './openapi.ts'
import { type CallOptions, getJson } from './request.ts'

export interface ClientOptions {
  /** Where the server is, with its base path if it has one: `https://example.org/svc`. */
  readonly baseUrl: string | URL
  /** The platform's own by default. */
  readonly fetch?: typeof globalThis.fetch
}

export type Client = ReturnType<typeof createClient>

/** The server's HTTP API as typed calls. Every call rejects with `ApiError` or `ConnectionError`. */
export function createClient({ baseUrl, fetch = globalThis.fetch.bind(globalThis) }: ClientOptions) {
  const base = asDirectory(baseUrl)
  const at = (path: string) => new URL(path, base)
  return {
    health: (options?: CallOptions) => getJson(fetch, at('health'), Health, options),
    audit: (options?: CallOptions) => getJson(fetch, at('audit'), AuditStatus, options),
    version: (options?: CallOptions) => getJson(fetch, at('api/v1/version'), Version, options),
    config: (options?: CallOptions) => getJson(fetch, at('api/v1/config'), InstanceConfig, options),
    /** The description of the whole API, printed from the server's routes. */
    openapi: (options?: CallOptions) => getJson(fetch, at('api/v1/openapi.json'), OpenApiDocument, options),
    /** Where `openapi` reads, for links. */
    openapiUrl: at('api/v1/openapi.json').href,
  }
}

/** Without the closing slash a relative path would replace the last segment of the base path. */
function asDirectory(url: string | URL): URL {
  const base = new URL(url)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}
