import { fileOnly, path, text } from '../builders.ts'
import { type OidcProvider, parseProviders } from '../oidc-providers.ts'
import { defineRow } from '../row.ts'

export const oidcRows = {
  configFile: path({
    env: 'SVCD_OIDC_CONFIG',
    reload: 'live',
    doc: 'YAML or JSON file with the list of identity providers. Replaces oidc_providers.',
  }),
  providers: fileOnly(
    defineRow<readonly OidcProvider[], readonly OidcProvider[]>(
      {
        env: 'SVCD_OIDC_PROVIDERS',
        default: [],
        reload: 'live',
        doc: 'Identity providers: a list of id, display-name, issuer, client-id, client-secret, scopes, ca-cert, logout-redirect, trust-email and token-validation-pem.',
      },
      {
        type: 'list of providers',
        secret: true,
        parse: parseProviders,
        print: (providers) => providers.map(({ id }) => id).join(',') || 'empty list',
      },
    ),
  ),
  loginHook: text({
    env: 'SVCD_OIDC_LOGIN_HOOK',
    type: 'path, optional :function',
    reload: 'live',
    doc: 'Module that is asked at each single sign-on which groups the person belongs to.',
  }),
}
