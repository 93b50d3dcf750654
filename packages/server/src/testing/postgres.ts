import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Client } from 'pg'

const run = promisify(execFile)

const USER = 'svc'
const PASSWORD = 'a password/with:signs'

/** The folder of PostgreSQL's programs, the newest version first; undefined where it is not installed. */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** A private PostgreSQL server for one test file, reached by a Unix socket and a password. */
export interface PostgresCluster {
  /** Makes an empty database and answers its URL. */
  createDatabase(): Promise<string>
  urlOf(database: string): string
  /** Runs one of PostgreSQL's own programs, such as `pg_restore`, against a database of this cluster. */
  runTool(name: string, args: readonly string[], url: string): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<PostgresCluster | undefined> {
  const binaries = findPostgres()
  if (!binaries) return undefined
  const owner = unprivilegedUser()
  const home = await mkdtemp(join(tmpdir(), 'svc-postgres-'))
  if (owner) await chown(home, owner.uid, owner.gid)
  const data = join(home, 'data')
  const passwordFile = join(home, 'password')
  await writeFile(passwordFile, PASSWORD)
  await run(
    join(binaries, 'initdb'),
    [
      '-D',
      data,
      '-U',
      USER,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...owner, cwd: home },
  )
  const server = spawn(join(binaries, 'postgres'), ['-D', data, '-k', home, ...settings()], {
    ...owner,
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await readiness(server)

  const urlOf = (database: string) =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@localhost:5432/${database}?host=${encodeURIComponent(home)}`

  return {
    urlOf,
    async createDatabase() {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      const client = new Client({ connectionString: urlOf('postgres') })
      await client.connect()
      try {
        await client.query(`create database ${name}`)
      } finally {
        await client.end()
      }
      return urlOf(name)
    },
    async runTool(name, args, url) {
      const database = new URL(url).pathname.slice(1)
      const env = { PATH: process.env.PATH, PGHOST: home, PGUSER: USER, PGPASSWORD: PASSWORD, PGDATABASE: database }
      await run(join(binaries, name), args, { env })
    },
    async stop() {
      const exit = once(server, 'exit')
      server.kill('SIGINT') // PostgreSQL's "fast" shutdown: ends sessions instead of waiting for them
      await exit
      await rm(home, { recursive: true })
    },
  }
}

function settings(): string[] {
  return Object.entries({
    listen_addresses: '',
    // No test cuts the machine's power, so nothing that only matters then is paid for.
    fsync: 'off',
    full_page_writes: 'off',
    // The opposite of what the service needs: its sessions have to ask for it themselves.
    synchronous_commit: 'off',
    default_transaction_isolation: 'repeatable read',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** PostgreSQL refuses to run as root; another user of this machine stands in. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const entry = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (!entry) throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody')
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

async function readiness(server: ChildProcessByStdio<null, null, Readable>): Promise<void> {
  const complaints: string[] = []
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes('ready to accept connections')) {
      server.stderr.resume() // read on, or the server stops when the pipe is full
      return
    }
    complaints.push(line)
  }
  throw new Error(`PostgreSQL did not start: ${complaints.join('\n')}`)
}
