import type { OpenApiDocument } from '@svc/client/openapi'

/** Where the paths of the document begin, without closing slash. `page` is the address this page came from. */
export function serverAddress(servers: OpenApiDocument['servers'], page: URL): string {
  const [server] = servers ?? []
  // A server that says only "/" does not know its base path; the page was loaded through it.
  const address = server && server.url !== '/' ? new URL(server.url, new URL('api/v1/openapi.json', page)) : page
  return address.href.replace(/\/$/, '')
}
