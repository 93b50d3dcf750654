import type { InstanceConfig } from '@svc/protocol/instance'

type SignInConfig = Pick<
  InstanceConfig,
  'auth_modes' | 'oidc_providers' | 'registration_enabled' | 'invitations_enabled'
>

/** How people sign in here. */
export function signInWords({ auth_modes, oidc_providers }: SignInConfig): string {
  const names = oidc_providers.map((provider) => provider.display_name)
  const sso = names.length > 0 ? `single sign-on (${names.join(', ')})` : 'single sign-on'
  switch (auth_modes) {
    case 'none':
      return 'Not needed: whoever reaches this server is its local user'
    case 'password':
      return 'With a password'
    case 'oidc':
      return `With ${sso}`
    case 'both':
      return `With a password or ${sso}`
  }
}

/** How one becomes a user here; undefined where there is only the local one. */
export function newAccountWords(config: SignInConfig): string | undefined {
  if (config.auth_modes === 'none') return undefined
  if (config.registration_enabled) return 'Anybody may register'
  return config.invitations_enabled ? 'By invitation' : 'Made by an administrator'
}
