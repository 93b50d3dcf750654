import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { storageKinds, type TestDatabase, useDatabases } from '../testing/storages.ts'

const WRITERS = 200
const ACKNOWLEDGED_BEFORE_THE_KILL = 60
const ROUNDS = 3

const program = fileURLToPath(new URL('../testing/write-server.ts', import.meta.url))

async function startServer({ writeServer: { args, env } }: TestDatabase) {
  const server = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => kill(server))
  const [port] = await once(createInterface({ input: server.stdout }), 'line')
  return { server, rows: `http://127.0.0.1:${port}/rows` }
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exit = once(server, 'exit')
  server.kill('SIGKILL')
  await exit
}

/** Writes without a pause from many writers at once until the server is gone; answers what it had acknowledged. */
async function writeUntilKilled(database: TestDatabase, round: number): Promise<string[]> {
  const { server, rows } = await startServer(database)
  const acknowledged: string[] = []
  const write = async (writer: number) => {
    for (let count = 0; ; count++) {
      const event = `round ${round}, writer ${writer}, row ${count}`
      const response = await fetch(rows, { method: 'POST', body: event })
      if (response.status !== 200) throw new Error(await response.text())
      acknowledged.push(event)
      if (acknowledged.length === ACKNOWLEDGED_BEFORE_THE_KILL) server.kill('SIGKILL')
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  // Every writer ends because the connection broke, none because the server answered with an error.
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'TypeError' } })
  await kill(server)
  return acknowledged
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: crash`, () => {
    const databases = useDatabases(kind)

    test('kill -9 in the middle of 200 concurrent writes: after a restart every acknowledged row is there', async () => {
      const database = await databases.create()
      const acknowledged: string[] = []
      for (let round = 1; round <= ROUNDS; round++) {
        const inThisRound = await writeUntilKilled(database, round)
        expect(inThisRound.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_BEFORE_THE_KILL)
        acknowledged.push(...inThisRound)
        const { server, rows } = await startServer(database)
        expect(await (await fetch(rows)).json()).toEqual(expect.arrayContaining(acknowledged))
        await kill(server)
      }
    }, 60_000)
  })
}
