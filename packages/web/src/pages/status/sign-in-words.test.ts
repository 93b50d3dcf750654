import { expect, test } from 'vitest'
import { newAccountWords, signInWords } from './sign-in-words.ts'

const config = { oidc_providers: [], registration_enabled: false, invitations_enabled: false }
const providers = [
  { id: 'a', display_name: 'Acme' },
  { id: 'b', display_name: 'Beta' },
]

test.each([
  { auth_modes: 'none', words: 'Not needed: whoever reaches this server is its local user' },
  { auth_modes: 'password', words: 'With a password' },
  { auth_modes: 'oidc', words: 'With single sign-on (Acme, Beta)' },
  { auth_modes: 'both', words: 'With a password or single sign-on (Acme, Beta)' },
] as const)('mode $auth_modes reads "$words"', ({ auth_modes, words }) => {
  expect(signInWords({ ...config, auth_modes, oidc_providers: providers })).toBe(words)
})

test.each([
  { registration_enabled: true, invitations_enabled: true, words: 'Anybody may register' },
  { registration_enabled: false, invitations_enabled: true, words: 'By invitation' },
  { registration_enabled: false, invitations_enabled: false, words: 'Made by an administrator' },
])('registration $registration_enabled, invitations $invitations_enabled: $words', ({ words, ...enabled }) => {
  expect(newAccountWords({ ...config, ...enabled, auth_modes: 'password' })).toBe(words)
})

test('a server without sign-in makes no accounts', () => {
  expect(newAccountWords({ ...config, auth_modes: 'none' })).toBeUndefined()
})
