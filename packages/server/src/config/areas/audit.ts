import { asSecret, boolean, integer, secret, url } from '../builders.ts'
import { parseAuthority, scalarText } from '../formats.ts'
import { InvalidValue } from '../invalid-value.ts'
import { defineRow } from '../row.ts'
import { parseKey } from '../signing-secret.ts'

/** Where audit rows are sent as RFC 5424 messages. */
export interface SyslogTarget {
  readonly protocol: 'tcp' | 'tls'
  /** Without brackets, as a socket wants it. */
  readonly host: string
  readonly port: number
}

export const auditRows = {
  hmacKey: secret({
    env: 'SVCD_AUDIT_HMAC_KEY',
    type: 'secret, at least 32 characters',
    parse: parseKey,
    reload: 'live',
    doc: 'Key of the tag that shows whether an audit row was altered. Unset, rows carry no tag.',
  }),
  failClosed: boolean({
    env: 'SVCD_AUDIT_FAIL_CLOSED',
    default: false,
    reload: 'live',
    doc: 'Refuses to start or stop a workspace for a person when the audit row cannot be written first.',
  }),
  eventsRetentionDays: integer({
    env: 'SVCD_AUDIT_EVENTS_RETENTION_DAYS',
    default: 365,
    min: 0,
    reload: 'live',
    doc: 'Days identity and privilege rows are kept. 0 keeps them for ever.',
  }),
  eventsRowCap: integer({
    env: 'SVCD_AUDIT_EVENTS_ROW_CAP',
    default: 100000,
    min: 0,
    reload: 'live',
    doc: 'Identity and privilege rows kept of each class of event. 0 means no limit.',
  }),
  containerEventsRetentionDays: integer({
    env: 'SVCD_CONTAINER_EVENTS_RETENTION_DAYS',
    default: 90,
    min: 0,
    reload: 'live',
    doc: 'Days container rows are kept. 0 keeps them for ever.',
  }),
  containerEventsRowCap: integer({
    env: 'SVCD_CONTAINER_EVENTS_ROW_CAP',
    default: 10000,
    min: 0,
    reload: 'live',
    doc: 'Container rows kept. 0 means no limit.',
  }),
  consentRetentionDays: integer({
    env: 'SVCD_EGRESS_CONSENT_RETENTION_DAYS',
    default: 30,
    min: 0,
    reload: 'live',
    doc: 'Days egress-consent rows are kept. 0 keeps them for ever.',
  }),
  consentRowCap: integer({
    env: 'SVCD_EGRESS_CONSENT_ROW_CAP',
    default: 2000,
    min: 0,
    reload: 'live',
    doc: 'Egress-consent rows kept of each workspace. 0 means no limit.',
  }),
  // Collectors often put their token into the URL, so it is treated as a secret.
  forwardUrl: asSecret(
    url({
      env: 'SVCD_AUDIT_FORWARD_URL',
      secureUnlessLoopback: true,
      reload: 'live',
      doc: 'Collector that gets every audit row by JSON POST.',
    }),
  ),
  forwardHeader: secret({
    env: 'SVCD_AUDIT_FORWARD_HEADER',
    type: 'secret, Name: value',
    parse: parseHeader,
    reload: 'live',
    doc: 'Header sent with each of those posts, such as an authorization.',
  }),
  forwardSyslog: defineRow<SyslogTarget, undefined>(
    {
      env: 'SVCD_AUDIT_FORWARD_SYSLOG',
      reload: 'live',
      doc: 'Syslog server that gets every audit row; the ports are 514 for tcp and 6514 for tls unless given.',
    },
    {
      type: 'tcp:// or tls://, host, optional :port',
      parse: (raw) => parseSyslogTarget(scalarText(raw).trim()),
      print: ({ protocol, host, port }) => `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    },
  ),
}

function parseHeader(text: string): string {
  if (!/^[A-Za-z0-9-]+: *[^\s\p{Cc}][^\p{Cc}]*$/u.test(text)) {
    throw new InvalidValue('must have the form Name: value, the name of letters, digits and hyphens')
  }
  return text
}

function parseSyslogTarget(text: string): SyslogTarget {
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(text) ?? []
  const protocol = scheme.toLowerCase()
  if (protocol !== 'tcp' && protocol !== 'tls') throw new InvalidValue('must start with tcp:// or tls://')
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(parseAuthority(rest)) ?? []
  return { protocol, host: host.replace(/^\[(.+)\]$/, '$1'), port: Number(port ?? (protocol === 'tls' ? 6514 : 514)) }
}
