import type { FakeClock } from './fake-clock.ts'
import { startMailServer, type TestMailServer } from './mail-server.ts'
import type { TestResponse } from './start-http.ts'
import { type ServerOptions, startServer } from './start-server.ts'
import type { TestDatabase } from './storages.ts'

export const ADMIN = { email: 'root@example.com', password: 'correct horse battery' } as const
/** What everybody made by `person` signs in with. */
export const PASSWORD = 'a perfectly good password'

/** Far more than it takes until a call has looked around, hashed a password, and waits for its turn to write. */
const ROUND_TRIPS = 50

export interface AccountsOptions {
  /** Further settings, by their variables. */
  readonly env?: Record<string, string>
  /** SQLite in a folder of its own, unless given; see `storages.ts`. */
  readonly database?: TestDatabase
  readonly clock?: FakeClock
  /** See `ServerOptions`. */
  readonly folder?: string
  /** See `ServerOptions`. */
  readonly passwordIterations?: number
  /** See `ServerOptions`. */
  readonly openEngine?: NonNullable<ServerOptions['openEngine']>
  /** With a real mail server: one of its own, or the one of the file; see `useMailServer`. */
  readonly mail?: boolean | TestMailServer
}

/** A signed-in person, or a stranger: calls the API as it. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly password: string
  readonly token: string
  get(path: string): Promise<TestResponse>
  post(path: string, body?: unknown): Promise<TestResponse>
  put(path: string, body?: unknown): Promise<TestResponse>
  patch(path: string, body?: unknown): Promise<TestResponse>
  delete(path: string): Promise<TestResponse>
}

/**
 * A whole server in password mode with one administrator, who is signed in. Paths are below `/api/v1`.
 *
 *     await using server = await startAccounts({ mail: true })
 *     const ann = await server.person('ann')                     // ann@example.com, an ordinary member, signed in
 *     const eve = await server.person('eve', { groups: ['admins'] })
 *     expect((await ann.get('/users')).status).toBe(403)
 *     const rows = await server.audit('user.create')             // the details of all such rows, the oldest first
 */
export async function startAccounts(options: AccountsOptions = {}) {
  const ownMail = options.mail === true ? await startMailServer() : undefined
  const mail = typeof options.mail === 'object' ? options.mail : ownMail
  const server = await startServer(
    {
      SVCD_AUTH_MODES: 'password',
      SVCD_DEFAULT_USER: ADMIN.email,
      SVCD_DEFAULT_PASSWORD: ADMIN.password,
      ...mail?.env,
      ...options.env,
    },
    options,
  )

  const call = (token: string | undefined, method: string, path: string, body?: unknown) =>
    server.request(method, `/api/v1${path}`, {
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  /** The caller with this token, or nobody in particular. */
  const as = (token?: string) => ({
    get: (path: string) => call(token, 'GET', path),
    post: (path: string, body?: unknown) => call(token, 'POST', path, body),
    put: (path: string, body?: unknown) => call(token, 'PUT', path, body),
    patch: (path: string, body?: unknown) => call(token, 'PATCH', path, body),
    delete: (path: string) => call(token, 'DELETE', path),
  })
  const stranger = as()

  async function signIn(email: string, password: string): Promise<Person> {
    const token = field(await succeed(stranger.post('/auth/login', { identifier: email, password })), 'access_token')
    const id = String(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub)
    return { id, email, password, token, ...as(token) }
  }

  const admin = await signIn(ADMIN.email, ADMIN.password)

  /** Makes an account the way administrators do, with the forced change of password behind it, and signs it in. */
  async function person(name: string, { groups = [] }: { groups?: readonly string[] } = {}): Promise<Person> {
    const email = `${name}@example.com`
    await succeed(admin.post('/users', { email, password: `first ${PASSWORD}` }))
    const first = await signIn(email, `first ${PASSWORD}`)
    const change = { current_password: `first ${PASSWORD}`, new_password: PASSWORD }
    await succeed(first.post('/auth/change-password', change))
    for (const group of groups)
      await succeed(admin.post(`/groups/${await groupId(group)}/members`, { user_id: first.id }))
    return signIn(email, PASSWORD)
  }

  async function groupId(name: string): Promise<string> {
    const row = await server.storage.db
      .selectFrom('user_groups')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirst()
    if (!row) throw new Error(`there is no group ${name}`)
    return row.id
  }

  /**
   * Makes the calls one after the other, each as far as it comes without writing; then they write, in that order. So
   * each has found everything in order before the first of them has changed anything.
   */
  async function writeInOrder(calls: readonly (() => Promise<TestResponse>)[]): Promise<TestResponse[]> {
    const hold = Promise.withResolvers<void>()
    const holding = server.storage.transaction(() => hold.promise)
    const answers: Promise<TestResponse>[] = []
    for (const call of calls) {
      answers.push(call())
      for (let trip = 0; trip < ROUND_TRIPS; trip++) await succeed(stranger.get('/version'))
    }
    hold.resolve()
    await holding
    return Promise.all(answers)
  }

  return {
    ...server,
    writeInOrder,
    admin,
    stranger,
    as,
    signIn,
    person,
    groupId,
    get mail() {
      if (!mail) throw new Error('start it with { mail: true }')
      return mail
    },
    /** The details of every such audit row, the oldest first. */
    async audit(event: string): Promise<unknown[]> {
      const rows = await server.storage.db
        .selectFrom('audit_events')
        .select('detail')
        .where('event', '=', event)
        .orderBy('id')
        .execute()
      return rows.map(({ detail }) => JSON.parse(detail))
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await ownMail?.[Symbol.asyncDispose]()
    },
  }
}

export type AccountsServer = Awaited<ReturnType<typeof startAccounts>>

/** The answer of a call that must succeed. */
export async function succeed(answer: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answer
  if (response.status !== 200) throw new Error(`expected 200, got ${response.status}: ${response.text}`)
  return response
}

/** A text field of a JSON answer. */
export function field(answer: TestResponse, name: string): string {
  const { json } = answer
  const value = typeof json === 'object' && json !== null ? Reflect.get(json, name) : undefined
  if (typeof value !== 'string') throw new Error(`no ${name} in ${answer.text}`)
  return value
}
