import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { errorCode } from '../../kernel/error-code.ts'
import { writeNewFile } from '../new-file.ts'
import { BackupFailed } from '../storage.ts'
import { parseAddress, type ServerAddress } from './server-address.ts'

/** Dumps the database to a new file for `pg_restore`. Needs no opened storage: a server may or may not be running. */
export async function backupPostgres(url: string, path: string): Promise<void> {
  const address = parseAddress(url)
  await writeNewFile(path, (temporaryPath) => dump(address, temporaryPath))
}

async function dump(address: ServerAddress, path: string): Promise<void> {
  const pgDump = spawn('pg_dump', ['--format=custom', '--no-password', `--file=${path}`], {
    env: environmentFor(address),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    const [complaint, [exitCode]] = await Promise.all([text(pgDump.stderr), once(pgDump, 'exit')])
    if (exitCode !== 0) throw new BackupFailed(`pg_dump failed: ${complaint.trim()}`)
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') {
      throw new BackupFailed('pg_dump was not found: install the PostgreSQL client tools on this machine', { cause })
    }
    throw cause
  }
}

/** URL options that libpq reads from a variable of its own. */
const OPTION_VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  options: 'PGOPTIONS',
}

/** By environment and not by argument: everybody on the machine can read the arguments of a process. */
function environmentFor({ host, port, user, password, database, options }: ServerAddress): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    // biome-ignore lint/style/noProcessEnv: not a setting; a child that is given an environment needs its PATH too.
    PATH: process.env.PATH,
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
  }
  for (const [option, variable] of Object.entries(OPTION_VARIABLES)) {
    const value = options.get(option)
    if (value !== null) environment[variable] = value
  }
  // A word that only `pg` knows: encrypted, whatever the certificate. libpq calls that `require`.
  if (environment.PGSSLMODE === 'no-verify') environment.PGSSLMODE = 'require'
  return environment
}
