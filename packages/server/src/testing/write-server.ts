import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { systemClock } from '../kernel/clock.ts'
import { openPostgres } from '../storage/postgres/open-postgres.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import type { Storage } from '../storage/storage.ts'
import { MemoryLog } from './memory-log.ts'

// A server small enough to be killed: `write-server.ts <data directory>`, or with DATABASE_URL in the environment.
// It prints its port. POST /rows stores the body as an audit event, and answers only once that is committed.

const url = process.env.DATABASE_URL
const dataDir = process.argv[2] ?? ''
const storage = url
  ? await openPostgres({ url, clock: systemClock, logger: new MemoryLog() })
  : await openSqlite({ dataDir, clock: systemClock, logger: new MemoryLog() })

const server = createServer(async (request, response) => {
  try {
    response.end(await answer(request, storage))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})

async function answer(request: IncomingMessage, { db, transaction }: Storage): Promise<string> {
  if (request.method === 'GET') {
    const rows = await db.selectFrom('audit_events').select('event').orderBy('id').execute()
    return JSON.stringify(rows.map((row) => row.event))
  }
  const event = await text(request)
  const row = await transaction((tx) =>
    tx
      .insertInto('audit_events')
      .values({ event, detail: '{}', created_at: systemClock.nowMs() / 1000 })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return String(row.id)
}
