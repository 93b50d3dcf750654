import { describe, expect, test } from 'vitest'
import type { RequestFacts } from '../../kernel/route.ts'
import { type Mail, MailFailed } from '../../mail/mail.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { storageKinds, type TestDatabase, useDatabases } from '../../testing/storages.ts'
import { AccountStore } from '../accounts/account-store.ts'
import { Accounts } from '../accounts/accounts.ts'
import { AuditLog } from '../audit/audit-log.ts'
import { AuditStore } from '../audit/audit-store.ts'
import { Links } from '../auth/links.ts'
import { Tokens } from '../sessions/tokens.ts'
import { InvitationService } from './invitation-service.ts'
import { InvitationStore } from './invitation-store.ts'

const ANN = 'ann@example.com'
const actor = { userId: 'root', email: 'root@example.com', sessionId: 'session', groupIds: new Set<string>() }
const request: RequestFacts = {
  id: 'request',
  method: 'POST',
  path: '/api/v1/invitations',
  clientAddress: undefined,
  isFromThisMachine: true,
  userAgent: undefined,
  referer: undefined,
  origin: undefined,
  bearerToken: undefined,
  externalUrl: 'https://svc.example.com',
  log: new MemoryLog(),
}
const asking = { actor, request }

/** `send` is what happens while the letter is on its way. */
async function start(database: TestDatabase, send: Mail['send']) {
  const clock = new FakeClock()
  const storage = await database.open({ clock })
  const accounts = new Accounts({ storage, store: new AccountStore(), clock })
  const tokens = new Tokens({ secret: () => 'only-for-tests-only-for-tests-only-for-tests', issuer: 'tests', clock })
  const settings = () => ({ disableInvites: false, inviteExpireHours: 72 })
  const invitations = new InvitationService({
    storage,
    store: new InvitationStore(),
    accounts,
    links: new Links({ tokens, clock, settings }),
    mail: { send },
    audit: new AuditLog({ store: new AuditStore(storage), clock, log: new MemoryLog() }),
    settings,
    clock,
  })
  const recorded = async () =>
    (await storage.db.selectFrom('audit_events').select('event').orderBy('id').execute()).map(({ event }) => event)
  return { storage, accounts, invitations, recorded }
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: while the letter is on its way`, () => {
    const databases = useDatabases(kind)

    test('an address that gets an account is not invited', async () => {
      const { storage, accounts, invitations, recorded } = await start(await databases.create(), async (email) => {
        await storage.transaction((tx) => accounts.create(tx, { email, verified: true, passwordHash: null }))
      })
      await expect(invitations.invite(asking, ANN)).rejects.toThrow('A user with this email already exists')
      expect([await invitations.list(), await recorded()]).toEqual([[], []])
    })

    test('an invitation that is revoked is not sent again', async () => {
      const { invitations, recorded } = await start(await databases.create(), async () => {
        for (const { id } of await invitations.list()) await invitations.revoke(asking, id)
      })
      const { id } = await invitations.invite(asking, ANN)
      await expect(invitations.resend(asking, id)).rejects.toThrow('Invitation not found or not pending')
      expect(await recorded()).toEqual(['invitation.create', 'invitation.revoke'])
    })

    test('no second letter goes to the same address, and one may when the first has failed', async () => {
      const letters: string[] = []
      const { invitations } = await start(await databases.create(), async (email) => {
        if (letters.push(email) > 1) return
        await expect(invitations.invite(asking, ANN.toUpperCase())).rejects.toThrow('A pending invitation')
        throw new MailFailed('nobody answers')
      })
      await expect(invitations.invite(asking, ANN)).rejects.toThrow('The invitation email could not be sent')
      await invitations.invite(asking, ANN)
      expect(letters).toEqual([ANN, ANN])
    })
  })
}
