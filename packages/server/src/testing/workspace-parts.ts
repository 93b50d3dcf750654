import { AbandonedHomesStore } from '../features/workspaces/abandoned-homes-store.ts'
import { SharingStore } from '../features/workspaces/sharing-store.ts'
import { ConfigurationRules } from '../features/workspaces/workspace-configuration.ts'
import { WorkspaceOperations } from '../features/workspaces/workspace-operations.ts'
import { WorkspaceRemoval } from '../features/workspaces/workspace-removal.ts'
import { WorkspaceStore } from '../features/workspaces/workspace-store.ts'
import { Workspaces } from '../features/workspaces/workspaces.ts'
import { Background } from '../kernel/background.ts'
import type { Caller, RequestFacts } from '../kernel/route.ts'
import { load } from './load-test-settings.ts'
import type { AccountsServer, Person } from './start-accounts.ts'

/**
 * The services of workspaces on the database of a server, with containers, homes and archives that are only lists: for
 * tests of what happens when one of them fails.
 */
export async function workspaceParts(server: AccountsServer, env: Record<string, string> = {}) {
  const { settings } = await load(env)
  const { storage, clock, log } = server
  const { accounts, access, groups, audit, sessions } = server.app
  const store = new WorkspaceStore()
  const workspaces = new Workspaces({ storage, store })
  const background = new Background(log)
  const sharing = new SharingStore()
  /** What was asked of the outside, in order. */
  const asked: string[] = []
  /** What the outside answers with an error, by the words it would be asked with. */
  const failing = new Set<string>()
  /** What happens elsewhere while the outside does something. */
  const onAsked = new Map<string, () => Promise<void>>()
  const ask = async (what: string) => {
    asked.push(what)
    await onAsked.get(what)?.()
    if (failing.has(what)) throw new Error(`${what} failed`)
  }
  const core = { storage, store, sharing, workspaces, accounts, access, groups, audit, sessions, background, clock }
  const rules = new ConfigurationRules({
    settings: () => settings,
    images: { requireAllowed: () => undefined },
    protectedPaths: () => [],
  })
  const operations = new WorkspaceOperations({
    ...core,
    rules,
    settings: () => settings,
    start: (id, _ownerId, externalUrl) => ask(`start ${id} for ${externalUrl}`),
  })
  const removal = new WorkspaceRemoval({
    ...core,
    abandoned: new AbandonedHomesStore(),
    lifecycle: {
      async stopForGood(id, { cause }, work) {
        await ask(`stop ${id} ${cause}`)
        return work()
      },
    },
    describe: ({ name }) => `about ${name}`,
    archive: (id, description) => ask(`archive ${id} ${description}`),
    homes: { remove: (id) => ask(`remove ${id}`), sweep: async () => {} },
  })
  return { ...core, rules, operations, removal, asked, failing, onAsked, ask }
}

/** The person as the guard would hand them to a service. */
export async function callerFor(server: AccountsServer, { id, email }: Person): Promise<Caller> {
  const standing = await server.app.accounts.findStanding(id)
  return { userId: id, email, sessionId: 'a session', groupIds: standing?.groupIds ?? new Set() }
}

/** A request of which only the audit trail takes notice. */
export function requestFacts(server: AccountsServer): RequestFacts {
  return {
    id: 'a request',
    method: 'POST',
    path: '/',
    clientAddress: undefined,
    isFromThisMachine: true,
    userAgent: undefined,
    referer: undefined,
    origin: undefined,
    bearerToken: undefined,
    externalUrl: 'http://localhost',
    log: server.log,
  }
}
