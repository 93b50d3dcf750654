import { boolean, float, host, integer, list, path, port, secret } from '../builders.ts'
import { parseCidr, parseOrigin } from '../formats.ts'
import { InvalidValue } from '../invalid-value.ts'

export const networkRows = {
  listen: host({
    env: 'SVCD_LISTEN',
    default: '127.0.0.1',
    reload: 'restart',
    doc: 'Address the web interface and the API listen on.',
  }),
  port: port({
    env: 'SVCD_PORT',
    unset: 'unset: no browser listener',
    reload: 'restart',
    doc: 'Port the web interface and the API listen on. Unset, only the private socket is served.',
  }),
  socket: path({
    env: 'SVCD_SOCKET',
    defaultFrom: { text: '<state_dir>/svcd.sock', value: ({ stateDir }) => `${stateDir}/svcd.sock` },
    reload: 'restart',
    doc: 'Private Unix socket of the server; its path has at most 104 bytes.',
  }),
  trustedProxyCidrs: list({
    env: 'SVCD_TRUSTED_PROXY_CIDRS',
    of: 'IP addresses and networks',
    item: parseCidr,
    default: ['127.0.0.1', '::1'],
    reload: 'live',
    doc: 'Reverse proxies whose forwarded headers are believed.',
  }),
  rejectProxyHeaders: boolean({
    env: 'SVCD_REJECT_PROXY_HEADERS',
    default: false,
    reload: 'live',
    doc: 'Ignores forwarded headers from everyone, trusted proxies too.',
  }),
  apiRateLimit: integer({
    env: 'SVCD_API_RATE_LIMIT',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'API requests one client address may make each minute. 0 turns the limit off.',
  }),
  corsOrigins: list({
    env: 'SVCD_CORS_ORIGINS',
    of: 'origins',
    item: parseCorsOrigin,
    unset: 'the address the server is reached at',
    reload: 'live',
    doc: 'Web origins whose pages may call the API. A * is refused: name each origin.',
  }),
  cspConnectOrigins: list({
    env: 'SVCD_CSP_CONNECT_ORIGINS',
    of: 'URLs',
    item: (text) => parseOrigin(text, ['http', 'https', 'ws', 'wss']),
    default: [],
    reload: 'live',
    doc: 'Further origins the web interface may connect to; of each URL only scheme, host and port count.',
  }),
  metricsToken: secret({
    env: 'SVCD_METRICS_TOKEN',
    unset: 'unset: loopback only',
    reload: 'live',
    doc: 'Bearer token that lets another machine read GET /metrics.',
  }),
  quiesceTimeoutSeconds: float({
    env: 'SVCD_QUIESCE_TIMEOUT',
    default: 15,
    reload: 'live',
    doc: 'Seconds that requests in flight get to finish on stop or reload.',
  }),
  websocketMessageMaxBytes: integer({
    env: 'SVCD_WEBSOCKET_MSG_SIZE_MAX',
    default: 16777216,
    min: 1,
    reload: 'restart',
    doc: 'Largest WebSocket message the server takes, in bytes.',
  }),
  websocketDebug: boolean({
    env: 'SVCD_WEBSOCKET_DEBUG',
    default: false,
    reload: 'live',
    doc: 'Logs the type and size of every WebSocket message.',
  }),
  fileUploadMaxBytes: integer({
    env: 'SVCD_FILE_UPLOAD_SIZE_MAX',
    default: 524288000,
    min: 1,
    reload: 'live',
    doc: 'Largest file that may be uploaded, in bytes.',
  }),
  importMaxUncompressedMb: integer({
    env: 'SVCD_IMPORT_MAX_UNCOMPRESSED_MB',
    min: 1,
    unset: 'unset: bounded by free space',
    reload: 'live',
    doc: 'Largest unpacked size of an imported workspace, in megabytes.',
  }),
}

function parseCorsOrigin(text: string): string {
  if (text === '*') throw new InvalidValue('must not be *: name each origin')
  return parseOrigin(text, ['http', 'https'])
}
