import { choice, email, host, path } from '../builders.ts'

export const tlsRows = {
  hostname: host({
    env: 'SVCD_TLS_HOSTNAME',
    reload: 'live',
    doc: 'Name under which the server offers HTTPS with a certificate it obtains itself. Refused for now: put a reverse proxy in front.',
  }),
  issuer: choice({
    env: 'SVCD_TLS_ISSUER',
    values: ['acme', 'internal'],
    default: 'acme',
    reload: 'live',
    doc: 'Who signs that certificate: a public authority (acme), or an authority the server makes for itself (internal).',
  }),
  acmeEmail: email({
    env: 'SVCD_ACME_EMAIL',
    reload: 'live',
    doc: 'Address the public authority may write to about the certificate.',
  }),
  trustedCaDir: path({
    env: 'SVCD_TRUSTED_CA_DIR',
    yamlAliases: ['approved_ca_dir'],
    reload: 'live',
    doc: 'Directory of approved certificate authorities. When set, no other custom authority is trusted.',
  }),
}
