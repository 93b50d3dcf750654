import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { findPostgres, type PostgresCluster, startPostgres } from '../../testing/postgres.ts'
import { DatabaseInUse } from '../database-in-use.ts'
import { StorageUnavailable } from '../storage.ts'
import { CLAIM_LOCK } from './claim-connection.ts'
import { DatabaseClaim } from './database-claim.ts'

/** Counts the timers that are set and neither due nor cancelled. */
class CountingClock extends FakeClock {
  pending = 0

  override after(delayMs: number, work: () => void): () => void {
    let isOpen = true
    const close = () => {
      if (isOpen) this.pending--
      isOpen = false
    }
    this.pending++
    const cancel = super.after(delayMs, () => {
      close()
      work()
    })
    return () => {
      close()
      cancel()
    }
  }
}

const openSockets = () => process.getActiveResourcesInfo().filter((name) => /^(Pipe|TCPSocket)Wrap$/.test(name)).length

describe.skipIf(!findPostgres())('postgres: one server on a database', () => {
  let cluster: PostgresCluster

  beforeAll(async () => {
    const started = await startPostgres()
    if (started) cluster = started
  })
  afterAll(() => cluster.stop())

  /** One server's view: its clock, its log and what it was told. */
  function server(url: string) {
    const clock = new CountingClock()
    const log = new MemoryLog()
    const told: Error[] = []
    const ending = new AbortController()
    const claiming = DatabaseClaim.take({
      url,
      clock,
      logger: log,
      onLost: (error) => void told.push(error),
      ending: ending.signal,
    })
    const settled = claiming.then(
      () => true,
      () => true,
    )
    onTestFinished(async () => {
      ending.abort()
      await claiming.then(
        (claim) => claim.release(),
        () => undefined,
      )
    })
    const messages = () => log.records.map(({ level, message }) => `${level} ${message}`)
    return { claiming, settled, clock, log, told, ending, messages }
  }

  /** Moves the clock until the server has the database or has given up. */
  async function waitedFor({ claiming, settled, clock }: ReturnType<typeof server>) {
    await expect
      .poll(() => {
        clock.advance(500)
        return Promise.race([settled, false])
      })
      .toBe(true)
    return claiming
  }

  async function ask<Row extends object>(url: string, sql: string): Promise<Row[]> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }

  const claims = async (url: string) =>
    await ask<{ pid: number }>(
      url,
      "select pid from pg_stat_activity where application_name = 'svcd claim' and datname = current_database()",
    )

  /** Ends the connection from outside, as a restart of PostgreSQL would. */
  const cut = (url: string) =>
    ask(
      url,
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'svcd claim' and datname = current_database()",
    )

  const LOST = 'WARNING lost the connection that keeps other servers off the database'
  const AGAIN = 'INFO this server keeps others off the database again'

  test('a second server waits for five seconds and is refused, with a sentence that tells who is there', async () => {
    const url = await cluster.createDatabase()
    const first = server(url)
    await first.claiming
    const second = server(url)
    const started = second.clock.nowMs()
    const refusal: unknown = await waitedFor(second).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(DatabaseInUse)
    const database = new URL(url).pathname.slice(1)
    expect(String(refusal)).toMatch(
      new RegExp(
        `Another svcd \\(connected since 2\\S+Z\\) is using the PostgreSQL database "${database}" at \\S+; stop it first$`,
      ),
    )
    expect(String(refusal)).not.toContain(decodeURIComponent(new URL(url).password))
    expect(second.clock.nowMs() - started).toBeGreaterThanOrEqual(5_000)
    expect(second.messages()).toEqual(['WARNING another svcd is using the database; trying again for 5 s'])
    await expect.poll(() => claims(url)).toHaveLength(1)
    expect(first.told).toEqual([])
  })

  test('a second server starts when the first lets go while it waits', async () => {
    const url = await cluster.createDatabase()
    const first = await server(url).claiming
    const second = server(url)
    await expect.poll(() => second.messages()).toContainEqual(expect.stringContaining('trying again'))
    await first.release()
    await waitedFor(second)
  })

  test('after a release the next server takes it at once', async () => {
    const url = await cluster.createDatabase()
    await (await server(url).claiming).release()
    const next = server(url)
    await next.claiming
    expect(next.messages()).toEqual([])
  })

  test('servers on two databases of one PostgreSQL do not disturb each other', async () => {
    await server(await cluster.createDatabase()).claiming
    await server(await cluster.createDatabase()).claiming
  })

  test('a connection that was cut is made again, and keeps others off again', async () => {
    const url = await cluster.createDatabase()
    const first = server(url)
    await first.claiming
    for (const times of [1, 2]) {
      await cut(url)
      await expect.poll(first.messages).toEqual(Array.from({ length: times }, () => [LOST, AGAIN]).flat())
    }
    const second = server(url)
    await expect(waitedFor(second)).rejects.toThrow(DatabaseInUse)
    expect(first.told).toEqual([])
  })

  test('while the database cannot be reached it tries again every second', async () => {
    const url = await cluster.createDatabase()
    const database = new URL(url).pathname.slice(1)
    const allow = (yes: boolean) =>
      ask(cluster.urlOf('postgres'), `alter database ${database} with allow_connections ${yes}`)
    const first = server(url)
    await first.claiming
    const outside = new Client({ connectionString: url })
    await outside.connect()
    await allow(false)
    await outside.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svcd claim'")
    await outside.end()
    const failures = () => first.messages().filter((message) => message.startsWith('DEBUG')).length
    await expect.poll(failures).toBe(1)
    await expect.poll(() => first.clock.pending).toBe(1)
    first.clock.advance(999)
    expect(first.clock.pending).toBe(1)
    first.clock.advance(1)
    await expect.poll(failures).toBe(2)
    await expect.poll(() => first.clock.pending).toBe(1)
    await allow(true)
    first.clock.advance(1_000)
    await expect.poll(first.messages).toContain(AGAIN)
    expect(first.told).toEqual([])
  })

  test('a server whose connection was cut is told when another was faster', async () => {
    const url = await cluster.createDatabase()
    const first = server(url)
    await first.claiming
    const other = new Client({ connectionString: url })
    await other.connect()
    onTestFinished(() => other.end())
    const waiting = other.query('select pg_advisory_lock($1)', [CLAIM_LOCK]) // in line, so it is the next
    await expect.poll(() => ask(url, "select 1 from pg_locks where locktype = 'advisory'")).toHaveLength(2)
    await cut(url)
    await waiting
    await expect.poll(() => first.told).toEqual([expect.any(DatabaseInUse)])
    expect(first.clock.pending).toBe(0)
    expect(await claims(url)).toEqual([])
  })

  test('its own connection, when PostgreSQL has not noticed yet that it is gone, is not another server', async () => {
    const url = await cluster.createDatabase()
    const line = await breakableLine(url)
    const first = server(line.url)
    await first.claiming
    const [own] = await claims(url)
    line.breakAtOurEnd()
    await expect.poll(() => first.clock.pending).toBe(1) // tried, refused, and waiting for the next try
    expect(await claims(url)).toContainEqual(own)
    expect(first.messages()).toEqual([LOST])
    expect(first.told).toEqual([])
    line.breakAtTheirEnd()
    await expect.poll(() => claims(url)).toEqual([])
    first.clock.advance(1_000)
    await expect.poll(first.messages).toEqual([LOST, AGAIN])
  })

  test('a limit for idle sessions does not end it', async () => {
    const url = await cluster.createDatabase()
    const database = new URL(url).pathname.slice(1)
    await ask(url, `alter database ${database} set idle_session_timeout to '300ms'`)
    const first = server(url)
    await first.claiming
    const idle = new Client({ connectionString: url })
    const ended = new Promise((resolve) => idle.on('error', resolve))
    await idle.connect()
    await ended // somebody who came later was ended
    expect(first.messages()).toEqual([])
  })

  describe('leaves neither a timer nor a connection behind', () => {
    async function expectNothingLeft(url: string, clock: CountingClock, before: number): Promise<void> {
      expect(clock.pending).toBe(0)
      expect(await claims(url)).toEqual([])
      await expect.poll(openSockets).toBeLessThanOrEqual(before)
    }

    test('when it is released, also twice', async () => {
      const url = await cluster.createDatabase()
      const before = openSockets()
      const first = server(url)
      const claim = await first.claiming
      await claim.release()
      await claim.release()
      await expectNothingLeft(url, first.clock, before)
      expect(first.messages()).toEqual([])
    })

    test('when it is released while it tries to have the database again', async () => {
      const url = await cluster.createDatabase()
      const before = openSockets()
      const line = await breakableLine(url)
      const first = server(line.url)
      const claim = await first.claiming
      line.breakAtOurEnd()
      await expect.poll(() => first.clock.pending).toBe(1)
      await claim.release()
      line.breakAtTheirEnd()
      await line.close()
      await expect.poll(() => claims(url)).toEqual([])
      await expectNothingLeft(url, first.clock, before)
    })

    test('when it is told to stop while it waits for another server', async () => {
      const url = await cluster.createDatabase()
      const first = await server(url).claiming
      const before = openSockets()
      const second = server(url)
      await expect.poll(() => second.clock.pending).toBe(1)
      second.ending.abort(new Error('told to stop'))
      await expect(second.claiming).rejects.toThrow('told to stop')
      expect(second.clock.pending).toBe(0)
      await expect.poll(openSockets).toBeLessThanOrEqual(before)
      await first.release()
      await expectNothingLeft(url, second.clock, before)
    })

    test('when it is told to stop while it connects', async () => {
      const silent = await silentServer()
      const before = openSockets()
      const first = server(silent.url)
      await silent.connected
      first.ending.abort(new Error('told to stop'))
      await expect(first.claiming).rejects.toThrow('told to stop')
      await silent.close()
      await expect.poll(openSockets).toBeLessThanOrEqual(before)
    })
  })

  test('a database that cannot be reached is called that, not in use', async () => {
    const refusal: unknown = await server(cluster.urlOf('nowhere')).claiming.catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StorageUnavailable)
    expect(String(refusal)).toContain('the database does not exist')
  })
})

/** A listener where a client looks for PostgreSQL. */
async function listenLikePostgres(onConnection: (socket: Socket) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-line-'))
  const listener = createServer(onConnection)
  await new Promise<void>((resolve) => listener.listen(join(folder, '.s.PGSQL.5432'), resolve))
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= new Promise<void>((resolve) => listener.close(() => resolve())).then(() =>
      rm(folder, { recursive: true }),
    )
    return closing
  }
  onTestFinished(close)
  return { folder, close }
}

/** A line to PostgreSQL that can break at one end without the other noticing. */
async function breakableLine(url: string) {
  const target = `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`
  const ours: Socket[] = []
  const theirs: Socket[] = []
  const { folder, close } = await listenLikePostgres((near) => {
    const far = connect(target)
    near.on('error', () => undefined).on('end', () => far.end())
    far.on('error', () => undefined).on('close', () => near.destroy())
    near.pipe(far, { end: false })
    far.pipe(near)
    ours.push(near)
    theirs.push(far)
  })
  onTestFinished(() => {
    for (const socket of [...ours, ...theirs]) socket.destroy()
  })
  const through = new URL(url)
  through.searchParams.set('host', folder)
  return {
    url: through.href,
    close,
    breakAtOurEnd: () => ours[0]?.destroy(),
    breakAtTheirEnd: () => theirs[0]?.destroy(),
  }
}

/** Takes a connection and says nothing. */
async function silentServer() {
  const connected = Promise.withResolvers<void>()
  const { folder, close } = await listenLikePostgres((socket) => {
    socket.on('error', () => undefined).resume()
    connected.resolve()
  })
  return {
    url: `postgres://svc:secret@localhost:5432/svc?host=${encodeURIComponent(folder)}`,
    connected: connected.promise,
    close,
  }
}
