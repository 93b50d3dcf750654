import { resolve } from 'node:path'
import { FieldReader, parseEntries, secretOrReference, textOrReference } from './field-reader.ts'
import { expandHome, parseBoolean, parseUrl, scalarText } from './formats.ts'
import { InvalidValue } from './invalid-value.ts'
import type { ParseContext } from './row.ts'
import type { Secret } from './secret.ts'

/** An identity provider people may sign in with. */
export interface OidcProvider {
  /** Part of the sign-in URL. */
  readonly id: string
  readonly displayName: string
  /** Without a trailing slash. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for a public client. */
  readonly clientSecret: Secret | undefined
  readonly scopes: readonly string[]
  /** Certificate file of the authority that signed the provider's own certificate. */
  readonly caCertFile: string | undefined
  readonly logoutRedirect: boolean
  /** Believe the address even when the provider does not say that it is verified. */
  readonly trustEmail: boolean
  /** Public key to check ID tokens with, in place of the provider's published keys. */
  readonly tokenValidationPem: string | undefined
}

const DEFAULT_SCOPES = ['openid', 'email', 'profile']

export async function parseProviders(raw: unknown, context: ParseContext): Promise<readonly OidcProvider[]> {
  if (!Array.isArray(raw)) throw new InvalidValue('must be a list of providers')
  const providers = await parseEntries(raw, (entry, number) => parseProvider(entry, `provider ${number}`, context))
  const ids = providers.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new InvalidValue(`must give each provider its own id: ${twice} is there twice`)
  return providers
}

async function parseProvider(raw: unknown, label: string, context: ParseContext): Promise<OidcProvider> {
  const fields = new FieldReader(raw, label)
  const id = await fields.require('id', parseSlug)
  const displayName = await fields.read('display-name', scalarText)
  const issuer = await fields.require('issuer', parseIssuer)
  const clientId = await fields.require('client-id', scalarText)
  const clientSecret = await fields.read('client-secret', (value) => secretOrReference(value, context))
  const scopes = await fields.read('scopes', parseScopes)
  const caCertFile = await fields.read('ca-cert', (value) =>
    resolve(context.baseDir, expandHome(scalarText(value), context.home)),
  )
  const logoutRedirect = await fields.read('logout-redirect', parseBoolean)
  const trustEmail = await fields.read('trust-email', parseBoolean)
  const tokenValidationPem = await fields.read('token-validation-pem', async (value) => parsePem(value, context))

  if (id === undefined || issuer === undefined || clientId === undefined || fields.reasons.length > 0) {
    throw new InvalidValue(...fields.reasons)
  }
  const unknown = fields.unknownFields()
  if (unknown.length > 0) context.warn(`identity ${label} (${id}) has unknown fields: ${unknown.join(', ')}`)
  return {
    id,
    displayName: displayName ?? id,
    issuer,
    clientId,
    clientSecret,
    scopes: scopes ?? DEFAULT_SCOPES,
    caCertFile,
    logoutRedirect: logoutRedirect ?? false,
    trustEmail: trustEmail ?? false,
    tokenValidationPem,
  }
}

function parseSlug(raw: unknown): string {
  const slug = scalarText(raw)
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9._~-]{0,62}[A-Za-z0-9])?$/.test(slug)) {
    throw new InvalidValue('must be letters, digits and . _ ~ - only, at most 64')
  }
  return slug
}

function parseIssuer(raw: unknown): string {
  return parseUrl(scalarText(raw), { secureUnlessLoopback: true }).replace(/\/+$/, '')
}

function parseScopes(raw: unknown): readonly string[] {
  const scopes = Array.isArray(raw)
    ? raw.map(scalarText)
    : scalarText(raw)
        .split(/[\s,]+/)
        .filter(Boolean)
  if (!scopes.includes('openid')) throw new InvalidValue('must include openid')
  return scopes
}

async function parsePem(raw: unknown, context: ParseContext): Promise<string> {
  const pem = await textOrReference(raw, context)
  if (!pem.includes('-----BEGIN ')) throw new InvalidValue('must be a public key in PEM form')
  return pem
}
