import { boolean, emptyMeans, float, host, integer, list, port, text } from '../builders.ts'
import { isHostName, parseCidr, parseInteger } from '../formats.ts'
import { parseImage } from '../image-name.ts'
import { InvalidValue } from '../invalid-value.ts'

export const egressRows = {
  listen: host({
    env: 'SVCD_EGRESS_LISTEN',
    default: '0.0.0.0',
    reload: 'live',
    doc: 'Address of the listener that only workspace containers use.',
  }),
  port: port({
    env: 'SVCD_EGRESS_PORT',
    default: 8995,
    reload: 'live',
    doc: 'Port of the listener that only workspace containers use; not the same as SVCD_PORT.',
  }),
  containerSubnets: list({
    env: 'SVCD_CONTAINER_SUBNETS',
    of: 'IP addresses and networks',
    item: parseCidr,
    unset: 'the networks the engine made',
    reload: 'live',
    doc: 'Addresses container traffic comes from: kept out of the web interface.',
  }),
  netfilterEnabled: boolean({
    env: 'SVCD_NETFILTER_ENABLED',
    default: true,
    reload: 'live',
    doc: 'Offers filtering of what workspaces may reach. Off, a workspace that asks for it does not start.',
  }),
  netfilterDefaultDomains: list({
    env: 'SVCD_NETFILTER_DEFAULT_DOMAINS',
    of: 'host, .host or *.host with optional :port, and IPv4 networks',
    item: parseDestination,
    default: [],
    reload: 'live',
    doc: 'Destinations the form for a new workspace suggests.',
  }),
  sidecarImage: emptyMeans(
    'no filtering',
    text({
      env: 'SVCD_NETWORK_SIDECAR_IMAGE',
      type: 'image name',
      parse: parseImage,
      default: 'svc-network-sidecar:latest',
      reload: 'live',
      doc: 'Image of the container that filters the traffic of a workspace.',
    }),
  ),
  consentRateLimit: integer({
    env: 'SVCD_EGRESS_CONSENT_RATE_LIMIT',
    default: 50,
    min: 0,
    reload: 'live',
    doc: 'Questions about new destinations a workspace may ask each minute. 0 means no limit.',
  }),
  consentTimeoutSeconds: float({
    env: 'SVCD_EGRESS_CONSENT_TIMEOUT',
    default: 120,
    reload: 'live',
    doc: 'Seconds a connection waits for such an answer before it is refused.',
  }),
  deciderTimeoutSeconds: float({
    env: 'SVCD_CONSENT_DECIDER_TIMEOUT',
    default: 45,
    reload: 'live',
    doc: 'Seconds without a sign of life after which the person who decides counts as gone.',
  }),
}

/** One entry of an allow list: a name, a name with its subdomains, or an IPv4 network, each with an optional port. */
function parseDestination(value: string): string {
  const [target = '', portText, ...rest] = value.toLowerCase().split(':')
  try {
    if (rest.length > 0) throw new InvalidValue('must have one port')
    if (portText !== undefined) parseInteger(portText, { min: 1, max: 65535 })
    if (!isHostName(target.replace(/^\*?\./, ''))) parseCidr(target)
  } catch {
    throw new InvalidValue('must be host, .host, *.host or an IPv4 network such as 10.0.0.0/8, with an optional :port')
  }
  return value.toLowerCase()
}
