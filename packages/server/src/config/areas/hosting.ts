import { authority, choice, integer, port, text } from '../builders.ts'
import { parseAuthority } from '../formats.ts'
import { InvalidValue } from '../invalid-value.ts'

export const hostingRows = {
  hostname: authority({
    env: 'SVCD_HOSTING_HOSTNAME',
    unset: 'taken from each request',
    reload: 'live',
    doc: 'Host, with a port if it is not the usual one, in every URL the server writes.',
  }),
  proto: choice({
    env: 'SVCD_HOSTING_PROTO',
    values: ['http', 'https'],
    unset: 'taken from each request',
    reload: 'live',
    doc: 'Scheme in every URL the server writes.',
  }),
  basePath: text({
    env: 'SVCD_HOSTING_BASE_PATH',
    type: 'URL path',
    parse: parseBasePath,
    unset: 'taken from each request',
    reload: 'live',
    doc: 'Path prefix under which a reverse proxy offers the server; / for none.',
  }),
  appsHostname: text({
    env: 'SVCD_HOSTED_APPS_HOSTNAME',
    type: 'host name, optional *. before and :port behind it',
    parse: parseAppsHostname,
    unset: 'the server’s own, where browsers confine each application; on localhost, a name below it per workspace',
    reload: 'live',
    doc: 'Host under which browsers open hosted applications, apart from the web interface. With `*.` each workspace has a name of its own.',
  }),
  portRangeStart: port({
    env: 'SVCD_PORT_RANGE_START',
    default: 9000,
    reload: 'live',
    doc: 'First port given to applications hosted in workspaces.',
  }),
  portsPerWorkspace: integer({
    env: 'SVCD_HOSTED_PORTS_PER_WORKSPACE',
    default: 5,
    min: 0,
    reload: 'live',
    doc: 'Ports each workspace gets for hosted applications. 0 turns hosting off.',
  }),
}

/** `/a/b`, or the empty string for the root. Only characters that need no escaping in a URL or a header. */
function parseBasePath(value: string): string {
  const segments = value.trim().split('/').filter(Boolean)
  const safe = segments.every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && segment !== '.' && segment !== '..')
  if (!safe) throw new InvalidValue('must be a path of letters, digits and . _ ~ - between slashes')
  return segments.map((segment) => `/${segment}`).join('')
}

const EACH = '*.'

/** `*.apps.example.com:8443`. The name behind the star is checked like any other. */
function parseAppsHostname(value: string): string {
  const name = value.trim().toLowerCase()
  const each = name.startsWith(EACH) ? EACH : ''
  const rest = name.slice(each.length)
  if (each && /^[\d.]+(?::\d+)?$|^\[/.test(rest))
    throw new InvalidValue('must be a name below which there can be others')
  return `${each}${parseAuthority(rest)}`
}
