import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { load, refusal, temporaryDir, writeTemporary } from '../testing/load-test-settings.ts'

const minimal = { id: 'corp', issuer: 'https://id.example/realm/', 'client-id': 'svc' }
const providersFrom = async (...providers: object[]) =>
  (await load({}, JSON.stringify({ oidc_providers: providers }))).settings.oidc.providers
const refusalOf = async (...providers: unknown[]) => refusal({}, JSON.stringify({ oidc_providers: providers }))

describe('a provider', () => {
  test('needs an id, an issuer and a client id; the rest has defaults', async () => {
    expect(await providersFrom(minimal)).toEqual([
      {
        id: 'corp',
        displayName: 'corp',
        issuer: 'https://id.example/realm',
        clientId: 'svc',
        clientSecret: undefined,
        scopes: ['openid', 'email', 'profile'],
        caCertFile: undefined,
        logoutRedirect: false,
        trustEmail: false,
        tokenValidationPem: undefined,
      },
    ])
  })

  test('may spell its fields either way; kebab-case wins', async () => {
    const [provider] = await providersFrom({
      ...minimal,
      display_name: 'Snake',
      'display-name': 'Kebab',
      logout_redirect: true,
      'trust-email': 'yes',
      scopes: 'openid groups',
    })
    expect(provider).toMatchObject({
      displayName: 'Kebab',
      logoutRedirect: true,
      trustEmail: true,
      scopes: ['openid', 'groups'],
    })
  })

  test('may give its secret by reference', async () => {
    const [byFile] = await providersFrom({ ...minimal, 'client-secret': `file:${writeTemporary('s', 'hush\n')}` })
    const [byCommand] = await providersFrom({ ...minimal, client_secret: 'cmd:echo hush' })
    expect([byFile?.clientSecret?.reveal(), byCommand?.clientSecret?.reveal()]).toEqual(['hush', 'hush'])
  })

  test.each([
    ['without an id', { ...minimal, id: undefined }, 'in provider 1: id is missing'],
    ['with a slash in its id', { ...minimal, id: 'a/b' }, 'in provider 1: id must be letters, digits'],
    ['without an issuer', { ...minimal, issuer: '' }, 'in provider 1: issuer is missing'],
    ['with an unencrypted issuer', { ...minimal, issuer: 'http://id.example' }, 'issuer must use https'],
    ['without a client id', { ...minimal, 'client-id': null }, 'client-id is missing'],
    ['with a numeric secret', { ...minimal, 'client-secret': 123 }, 'client-secret must be text'],
    ['with a broken secret', { ...minimal, 'client-secret': 'file:/nowhere/x' }, 'client-secret refers to a file'],
    ['without the openid scope', { ...minimal, scopes: ['email'] }, 'scopes must include openid'],
    [
      'with a key that is none',
      { ...minimal, 'token-validation-pem': 'abc' },
      'token-validation-pem must be a public key',
    ],
    ['that is a word', 'corp', 'in provider 1: must be a map of fields'],
  ])('%s is refused', async (_, provider, reason) => {
    expect((await refusalOf(provider)).message).toContain(reason)
  })

  test('must have an id of its own', async () => {
    expect((await refusalOf(minimal, minimal)).message).toContain('corp is there twice')
  })

  test('with an unknown field is taken with a warning', async () => {
    const yaml = JSON.stringify({ oidc_providers: [{ ...minimal, 'client-secrt': 'hunter2' }] })
    const { warnings } = await load({}, yaml)
    expect(warnings).toEqual(['identity provider 1 (corp) has unknown fields: client-secrt'])
  })

  test('does not hide the faults of the next one', async () => {
    const { problems } = await refusalOf({ ...minimal, id: 'a b' }, { ...minimal, issuer: 'x' })
    expect(problems.map(({ message }) => message.slice(0, 14))).toEqual(['in provider 1:', 'in provider 2:'])
  })
})

describe('the file SVCD_OIDC_CONFIG names', () => {
  const inline = JSON.stringify({ oidc_providers: [{ ...minimal, id: 'inline' }] })

  test.each([
    ['JSON', JSON.stringify([{ ...minimal, 'ca-cert': 'ca.pem' }])],
    ['YAML', '- id: corp\n  issuer: https://id.example\n  client_id: svc\n  ca_cert: ca.pem\n'],
  ])('may be %s, wins over the inline list, and relative certificates lie beside it', async (_, content) => {
    const path = writeTemporary('providers', content)
    const { settings } = await load({ SVCD_OIDC_CONFIG: path }, inline)
    expect(settings.oidc.providers).toMatchObject([{ id: 'corp', caCertFile: join(dirname(path), 'ca.pem') }])
  })

  test.each([
    ['is missing', () => join(temporaryDir(), 'none'), 'cannot be read: no such file or directory'],
    ['is not YAML', () => writeTemporary('p', '['), 'is not valid YAML'],
    ['is not a list', () => writeTemporary('p', 'id: corp'), 'must be a list of providers'],
    ['holds a broken provider', () => writeTemporary('p', '[{ id: corp }]'), 'in provider 1: issuer is missing'],
  ])('is refused when it %s', async (_, path, reason) => {
    const { message } = await refusal({ SVCD_OIDC_CONFIG: path(), SVCD_AUTH_MODES: 'oidc' }, inline)
    expect(message).toContain(`SVCD_OIDC_CONFIG (the file it names) ${reason}`)
    expect(message).not.toContain('needs a provider')
  })
})
