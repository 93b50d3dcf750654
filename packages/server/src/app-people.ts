import type { Settings } from './config/settings.ts'
import { ADMINS } from './features/accounts/account.ts'
import { AccountStore } from './features/accounts/account-store.ts'
import { Accounts } from './features/accounts/accounts.ts'
import { disableDormant } from './features/accounts/dormant-sweep.ts'
import { AccessControl } from './features/acl/access-control.ts'
import { aclRoutes } from './features/acl/acl-routes.ts'
import { AclService } from './features/acl/acl-service.ts'
import { AclStore } from './features/acl/acl-store.ts'
import { OwnPermissions } from './features/acl/own-permissions.ts'
import { PrincipalStore } from './features/acl/principal-store.ts'
import type { AuditLog } from './features/audit/audit-log.ts'
import { authRoutes } from './features/auth/auth-routes.ts'
import { Cooldown } from './features/auth/cooldown.ts'
import { Links } from './features/auth/links.ts'
import { OwnAccount } from './features/auth/own-account.ts'
import { Recovery } from './features/auth/recovery.ts'
import { Registration } from './features/auth/registration.ts'
import { SignIn } from './features/auth/sign-in.ts'
import { groupRoutes } from './features/groups/group-routes.ts'
import { GroupService } from './features/groups/group-service.ts'
import { GroupStore } from './features/groups/group-store.ts'
import { InvitationAcceptance } from './features/invitations/invitation-acceptance.ts'
import { acceptanceRoutes, invitationRoutes } from './features/invitations/invitation-routes.ts'
import { InvitationService } from './features/invitations/invitation-service.ts'
import { InvitationStore } from './features/invitations/invitation-store.ts'
import { Lockout } from './features/lockout/lockout.ts'
import { LockoutStore } from './features/lockout/lockout-store.ts'
import { PasswordGate } from './features/lockout/password-gate.ts'
import { PasswordHasher } from './features/passwords/password-hash.ts'
import { Passwords } from './features/passwords/passwords.ts'
import { requireWayIn, seed } from './features/seeding/seed.ts'
import { ActivityStamps } from './features/sessions/activity-stamps.ts'
import { SessionStore } from './features/sessions/session-store.ts'
import { Sessions } from './features/sessions/sessions.ts'
import { SignInGuard } from './features/sessions/sign-in-guard.ts'
import { SocketSignIn } from './features/sessions/socket-sign-in.ts'
import { Tokens } from './features/sessions/tokens.ts'
import { UserDirectory } from './features/users/user-directory.ts'
import { userRoutes } from './features/users/user-routes.ts'
import { UserService } from './features/users/user-service.ts'
import { UserStore } from './features/users/user-store.ts'
import { Background } from './kernel/background.ts'
import { Repeated } from './kernel/repeated.ts'
import type { Route } from './kernel/route.ts'
import { ConfiguredMail } from './mail/configured-mail.ts'
import type { Ports } from './ports.ts'
import { mailSettings } from './settings-views.ts'

const HOUR_MS = 3_600_000

/** What other parts may use of it. */
export type People = ReturnType<typeof buildPeople>

/** The part of the composition root that deals with people: who they are, how they sign in, what they may do. */
export function buildPeople(settings: () => Settings, ports: Ports, audit: AuditLog) {
  const { storage, clock } = ports
  const log = ports.log.child('accounts')
  const authSettings = () => settings().auth
  const hasher = new PasswordHasher(
    ports.passwordIterations === undefined ? {} : { iterations: ports.passwordIterations },
  )
  const secret = () => authSettings().jwtSecret?.reveal() ?? ports.signingSecret
  const tokens = new Tokens({ secret, issuer: ports.instanceId, clock })
  const accounts = new Accounts({ storage, store: new AccountStore(), clock })
  const aclStore = new AclStore()
  const access = new AccessControl({ storage, store: aclStore })
  const sessions = new Sessions({ storage, store: new SessionStore(), tokens, accounts, audit, settings, clock })
  const stamps = new ActivityStamps({ storage, clock, log })
  const lockout = new Lockout({ storage, store: new LockoutStore(), settings: authSettings, clock })
  const gate = new PasswordGate({ storage, lockout, hasher, audit, clock })
  const passwords = new Passwords({ hasher, accounts, sessions, audit, policy: () => settings().passwords, clock })
  const mail = new ConfiguredMail({ settings: () => mailSettings(settings()), log: ports.log.child('mail') })
  const links = new Links({ tokens, clock, settings: authSettings })
  const background = new Background(log)
  const core = { storage, accounts, sessions, passwords, gate, lockout, links, mail, audit, clock, background }

  const hourly = (what: string, work: () => Promise<void>) => new Repeated({ what, everyMs: HOUR_MS, work, clock, log })
  const housekeeping = [
    hourly('disabling forgotten accounts', () =>
      disableDormant({ storage, accounts, audit, settings: authSettings, clock, log }),
    ),
    hourly('removing expired sessions', () => sessions.purgeExpired()),
    hourly('removing failed sign-ins that no longer count', () => lockout.purgeStale()),
  ]
  const acl = { storage, store: aclStore, principals: new PrincipalStore(), access, audit, adminGroup: ADMINS }
  const aclService = new AclService(acl)
  const userStore = new UserStore()
  const groups = new GroupService({ ...core, store: new GroupStore(), access })
  const invitationParts = { ...core, store: new InvitationStore(), settings: authSettings }
  const routes: Route[] = [
    ...aclRoutes(aclService, new OwnPermissions(acl)),
    ...authRoutes({
      signIn: new SignIn({ ...core, settings }),
      registration: new Registration({ ...core, settings: authSettings, cooldown: new Cooldown(clock) }),
      recovery: new Recovery({ ...core, settings: authSettings, cooldown: new Cooldown(clock) }),
      own: new OwnAccount({ ...core, cooldown: new Cooldown(clock) }),
      sessions,
      accounts,
      stamps,
      clock,
    }),
    ...userRoutes({
      users: new UserService({ ...core, store: userStore, access }),
      directory: new UserDirectory({ ...core, store: userStore }),
    }),
    ...groupRoutes(groups),
    ...invitationRoutes(new InvitationService(invitationParts)),
    ...acceptanceRoutes(new InvitationAcceptance(invitationParts)),
  ]
  const passwordPolicy = () => settings().passwords
  const guard = new SignInGuard({ tokens, sessions, accounts, access, stamps, passwordPolicy, clock })

  return {
    routes,
    guard,
    socketSignIn: new SocketSignIn({ guard, tokens, stamps, clock }),
    accounts,
    access,
    sessions,
    groups,
    tokens,
    /** Signs every token: another one makes them all void. */
    signingSecret: secret,
    acl: aclService,
    /** Refuses settings under which no administrator could sign in. */
    checkSettings: (next: Settings) => requireWayIn(storage.db, next.auth),
    async start() {
      await seed({ storage, accounts, access, hasher, audit, settings, clock, log })
      for (const task of housekeeping) await task.start()
    },
    /** Mails that were promised still go out. */
    async stop() {
      for (const task of housekeeping) await task.stop()
      await background.settled()
      await stamps.stop()
    },
  }
}
