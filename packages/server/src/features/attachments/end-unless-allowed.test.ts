import type { Permission } from '@svc/protocol/permissions'
import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { Attachments } from './attachments.ts'
import { OpenWorkspaces } from './open-workspaces.ts'
import { UserHomes } from './user-home.ts'

const EITHER = ['code-in-isolation', 'exec-and-sync'] as const

/** What becomes of something that somebody does, when it takes either permission. */
async function look(allows: (permission: Permission) => Promise<boolean>) {
  const attachments = new Attachments({
    open: new OpenWorkspaces(),
    workspaces: { find: async () => undefined },
    lifecycle: { start: () => Promise.reject(new Error('nothing starts here')), find: () => undefined },
    rights: { allows: (_user, permission) => allows(permission) },
    homes: new UserHomes({
      accounts: { findStanding: async () => undefined },
      settings: () => ({ perHandleHome: false }),
    }),
    clock: new FakeClock(),
    log: new MemoryLog(),
  })
  let isEnded = false
  const looked = attachments.endUnlessAllowed({ userId: 'ann', workspaceId: 'w' }, EITHER, () => {
    isEnded = true
  })
  const failure: unknown = await looked.catch((error: unknown) => error)
  return { isEnded, failure }
}

test.each([
  ['the first', ['code-in-isolation'], false],
  ['the second', ['exec-and-sync'], false],
  ['neither', ['join-workspace'], true],
] as const)(
  'of two permissions that are enough each, %s is left',
  async (_, granted: readonly Permission[], isEnded) => {
    expect(await look(async (permission) => granted.includes(permission))).toEqual({ isEnded, failure: undefined })
  },
)

test('what somebody may do cannot be found out: it ends, and the fault is told', async () => {
  const away = new Error('the database is away')
  expect(await look(() => Promise.reject(away))).toEqual({ isEnded: true, failure: away })
})
