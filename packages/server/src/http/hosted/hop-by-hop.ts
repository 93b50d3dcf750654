/** Said by one neighbour to the next; never passed on. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]

/** Everything of these headers that stays between two neighbours, what `Connection` lists included. */
export function hopByHop(headers: { readonly connection?: string | undefined }): ReadonlySet<string> {
  const listed = headers.connection?.split(',').map((name) => name.trim().toLowerCase()) ?? []
  return new Set([...HOP_BY_HOP, ...listed])
}
