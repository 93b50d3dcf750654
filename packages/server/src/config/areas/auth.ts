import { boolean, choice, email, flag, float, integer, secret } from '../builders.ts'
import { parseSigningSecret } from '../signing-secret.ts'

export const authRows = {
  modes: choice({
    env: 'SVCD_AUTH_MODES',
    values: ['none', 'password', 'oidc', 'both'],
    default: 'none',
    reload: 'live',
    doc: 'How people sign in: not at all (loopback only), by password, by single sign-on, or by either.',
  }),
  allowInsecureNoAuth: boolean({
    env: 'SVCD_ALLOW_INSECURE_NO_AUTH',
    default: false,
    reload: 'restart',
    doc: 'Lets mode none listen on an address other machines can reach. Whoever a proxy makes look like this machine is the administrator.',
  }),
  jwtSecret: secret({
    env: 'SVCD_JWT_SECRET',
    type: 'secret, at least 32 characters',
    parse: parseSigningSecret,
    unset: 'generated in the state directory',
    reload: 'live',
    doc: 'Key that signs session tokens. Changing it ends every session.',
  }),
  preventInsecureJwtSecret: boolean({
    env: 'SVCD_PREVENT_INSECURE_JWT_SECRET',
    default: false,
    reload: 'live',
    doc: 'Has no effect: a short or well-known signing secret is always refused. Accepted so that older files load.',
  }),
  defaultUser: email({
    env: 'SVCD_DEFAULT_USER',
    defaultFrom: { text: '<os user>@example.com', value: ({ osUser }) => `${osUser}@example.com` },
    reload: 'seed',
    doc: 'Email address of the administrator created while there is none.',
  }),
  defaultPassword: secret({
    env: 'SVCD_DEFAULT_PASSWORD',
    reload: 'seed',
    doc: 'Password of that administrator; needed for it in modes password and both, and held to the password policy.',
  }),
  disableRegistration: flag({
    env: 'SVCD_DISABLE_REGISTRATION',
    default: false,
    reload: 'live',
    doc: 'Stops people from creating their own accounts.',
  }),
  disableInvites: flag({
    env: 'SVCD_DISABLE_INVITES',
    default: false,
    reload: 'live',
    doc: 'Turns invitations off.',
  }),
  inviteExpireHours: integer({
    env: 'SVCD_INVITE_EXPIRE_HOURS',
    default: 72,
    min: 1,
    reload: 'live',
    doc: 'Hours an invitation link stays valid.',
  }),
  lockoutFailures: integer({
    env: 'SVCD_LOGIN_LOCKOUT_FAILURES',
    default: 5,
    min: 0,
    reload: 'live',
    doc: 'Failed sign-ins within the window that lock an account. 0 turns the lockout off.',
  }),
  lockoutWindowSeconds: integer({
    env: 'SVCD_LOGIN_LOCKOUT_WINDOW',
    default: 300,
    min: 0,
    reload: 'live',
    doc: 'Seconds over which failed sign-ins are counted.',
  }),
  lockoutDurationSeconds: integer({
    env: 'SVCD_LOGIN_LOCKOUT_DURATION',
    default: 900,
    min: 0,
    reload: 'live',
    doc: 'Seconds a locked account stays locked.',
  }),
  inactivityDisableDays: integer({
    env: 'SVCD_INACTIVITY_DISABLE_DAYS',
    default: 35,
    min: 0,
    reload: 'live',
    doc: 'Days without activity after which an account is disabled; administrators never are. 0 turns this off.',
  }),
  workspaceTokenHours: float({
    env: 'SVCD_WORKSPACE_TOKEN_HOURS',
    default: 24,
    reload: 'live',
    doc: 'Hours the token inside a workspace container stays valid; it is renewed before that.',
  }),
  testMode: boolean({
    env: 'SVCD_TEST_MODE',
    default: false,
    reload: 'restart',
    doc: 'Verifies new accounts without a mail. For tests on this machine only.',
  }),
}
