import { type Permission, permissions } from '@svc/protocol/permissions'
import type { Command } from '@svc/protocol/ws/client-frames'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FrameNeed, permissionsNamed } from '../kernel/frame.ts'
import { ask } from '../testing/live-terminals.ts'
import { allowOnly, connect, makeWorkspace, openLocalEngine } from '../testing/live-workspace.ts'
import { invitePersonas, PERSONAS, type Persona, type Personas } from '../testing/personas.ts'
import type { AnyFrame, SocketClient } from '../testing/socket-client.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../testing/start-accounts.ts'

const owners: readonly Persona[] = ['owner', 'owners']
const sharers: readonly Persona[] = [...owners, 'collaborators']
const coders: readonly Persona[] = [...sharers, 'coders']
const watchers: readonly Persona[] = [...coders, 'spectators']
const visitors: readonly Persona[] = [...watchers, 'shared with', 'in a group shared with']

/** Only this action is not the caller's to do. */
const PLAIN = { message: 'Permission denied' }
/** The whole workspace is out of reach. */
const FORBIDDEN = { message: 'Permission denied', code: 'forbidden' }

interface Rule {
  readonly needs: Exclude<FrameNeed, 'nothing'>
  readonly may: readonly Persona[]
  readonly refusal: { readonly message: string; readonly code?: string }
  readonly fields?: Readonly<Record<string, unknown>>
}

const ownWindows: Rule = { needs: 'code-in-isolation', may: coders, refusal: PLAIN }
const noWindow = { window_id: '@9999' }
const noTerminal = { user_id: 'nobody', ...noWindow }

/** Every command that needs a permission, as the specification lists them: changing this is a security decision. */
const TABLE: Partial<Record<Command, Rule>> = {
  workspace_connect: { needs: 'join-workspace', may: visitors, refusal: FORBIDDEN },
  restart_container: { needs: 'restart-workspace', may: coders, refusal: FORBIDDEN },
  exec_start: {
    needs: 'exec-and-sync',
    may: coders,
    refusal: { message: 'Running commands and syncing files here needs the exec-and-sync permission' },
    fields: { command: ['true'] },
  },
  terminal_start: ownWindows,
  terminal_new_window: ownWindows,
  terminal_select_window: { ...ownWindows, fields: noWindow },
  terminal_close_window: { ...ownWindows, fields: noWindow },
  terminal_rename_window: { ...ownWindows, fields: { ...noWindow, name: 'x' } },
  terminal_list_windows: ownWindows,
  ssh_agent_start: { needs: { anyOf: ['code-in-isolation', 'exec-and-sync'] }, may: coders, refusal: PLAIN },
  share_window: { needs: 'share-terminals', may: sharers, refusal: PLAIN, fields: noWindow },
  create_shared_terminal: {
    needs: { allOf: ['code-in-isolation', 'share-terminals'] },
    may: sharers,
    refusal: PLAIN,
    fields: { name: 'x' },
  },
  delete_shared_terminal: { needs: 'share-terminals', may: sharers, refusal: PLAIN, fields: noTerminal },
  join_shared_terminal: {
    needs: 'spectate-on-shared-terminals',
    may: watchers,
    refusal: PLAIN,
    fields: noTerminal,
  },
  list_shared_terminals: { needs: 'spectate-on-shared-terminals', may: watchers, refusal: PLAIN },
}

/** About what is open already, or only about oneself. */
const NEED_NOTHING: readonly Command[] = [
  'hello',
  'heartbeat',
  'workspace_disconnect',
  'ui_ready',
  'terminal_input',
  'terminal_resize',
  'terminal_stop',
  'terminal_ack',
  'unshare_window',
  'leave_shared_terminal',
  'exec_input',
  'exec_close_stdin',
  'exec_signal',
  'exec_stop',
  'ssh_agent_data',
  'ssh_agent_close',
  'ssh_agent_stop',
  'subscribe_health_heartbeat',
]

const rules = Object.entries(TABLE)
let server: AccountsServer
let personas: Personas
let owner: Person

beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  personas = await invitePersonas(server)
  owner = personas.as('owner')
})
afterAll(() => server[Symbol.asyncDispose]())

const inShort = (answer: AnyFrame) =>
  answer.type === 'error' ? { message: answer.message, ...(answer.code ? { code: answer.code } : {}) } : 'answered'

test('every command says here what it needs', () => {
  const needing = Object.entries(server.app.frames).filter(([, row]) => 'needs' in row && row.needs !== 'nothing')
  const others = Object.entries(server.app.frames).filter(([command]) => !needing.some(([name]) => name === command))
  expect(needing.map(([command, row]) => [command, 'needs' in row ? row.needs : null]).toSorted()).toEqual(
    rules.map(([command, { needs }]) => [command, needs]).toSorted(),
  )
  expect(others.map(([command]) => command).toSorted()).toEqual(NEED_NOTHING.toSorted())
})

describe.each(PERSONAS)('%s', (persona) => {
  let workspaceId = ''
  let socket: SocketClient
  const isVisitor = visitors.includes(persona)

  beforeAll(async () => {
    workspaceId = await personas.workspace()
    socket = await server.socket(personas.as(persona).token, { caps: ['req'] })
    if (isVisitor) await connect(socket, workspaceId)
  })
  afterAll(async () => {
    await socket.close()
    await succeed(owner.post(`/workspaces/${workspaceId}/stop`))
  })

  test.each(rules)('%s', async (command, { may, refusal, fields }) => {
    const answer = inShort(await ask(socket, { cmd: command, workspaceId, ...fields }))
    if (may.includes(persona)) {
      expect([FORBIDDEN, PLAIN, refusal]).not.toContainEqual(answer)
    } else if (isVisitor || command === 'workspace_connect') {
      expect(answer).toEqual(refusal)
    } else {
      expect(answer).toMatchObject({ code: 'not_connected' })
    }
  })
})

describe('with exactly the permission, and with everything but it', () => {
  let workspaceId = ''
  beforeAll(async () => {
    workspaceId = await makeWorkspace(owner)
    await succeed(owner.post(`/workspaces/${workspaceId}/start`))
  })

  const inside = rules.filter(([command]) => command !== 'workspace_connect')
  test.each(inside)('%s', async (command, { needs, refusal, fields }) => {
    const person = personas.as('stranger')
    const named = permissionsNamed(needs)
    const isAllOf = typeof needs === 'object' && 'allOf' in needs
    const enough = isAllOf ? [named] : named.map((one) => [one])
    const tooLittle = (isAllOf ? named.map((one) => [one]) : [named]).map((missing) =>
      permissions.filter((permission) => permission !== '*' && !missing.includes(permission)),
    )
    const allow = (some: readonly Permission[]) =>
      allowOnly(owner, workspaceId, [[person, ['join-workspace', ...some.filter((one) => one !== 'join-workspace')]]])
    await allow([])
    const socket = await server.socket(person.token, { caps: ['req'] })
    await connect(socket, workspaceId)
    for (const some of enough) {
      for (const others of tooLittle) {
        await allow(others)
        expect(inShort(await ask(socket, { cmd: command, ...fields }))).toEqual(refusal)
      }
      await allow(some)
      expect(inShort(await ask(socket, { cmd: command, ...fields }))).not.toEqual(refusal)
    }
    await socket.close()
  })
})
