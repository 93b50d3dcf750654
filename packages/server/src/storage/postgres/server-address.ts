import { Client } from 'pg'
import { StorageUnavailable } from '../storage.ts'

/** Where a database URL leads, without making a connection. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  /** What follows the `?`, for options that both `pg` and the PostgreSQL tools know, such as `sslmode`. */
  readonly options: URLSearchParams
}

export function parseAddress(url: string): ServerAddress {
  try {
    // The same parser and the same defaults that the pool uses.
    const { host, port, user, password, database } = new Client({ connectionString: url })
    return { host, port, user, password: password ?? undefined, database, options: optionsOf(url) }
  } catch (error) {
    if (error instanceof Error && 'path' in error) {
      throw new StorageUnavailable(`a certificate that the database URL names cannot be read: ${error.path}`)
    }
    // No cause: Node's error holds the URL, and the URL holds the password.
    throw new StorageUnavailable('the database URL cannot be read: write postgres://user:password@host:5432/database')
  }
}

function optionsOf(url: string): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : url.slice(start))
}

/** By Node's or PostgreSQL's error code. */
const TROUBLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ETIMEDOUT: 'the host does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  '28P01': 'the user or the password is wrong',
  '28000': 'the server does not let this user in',
  '3D000': 'the database does not exist',
  '42501': 'the user may not create tables there',
  '53300': 'the server has no free connection',
  '55P03': 'another server is upgrading it, or hangs in a transaction',
  '57P03': 'the server is starting up or shutting down',
}

/** Why the database cannot be opened, as a sentence for the operator, without the password. */
export function unavailable({ host, port, user, database }: ServerAddress, cause: unknown): StorageUnavailable {
  if (cause instanceof StorageUnavailable) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const trouble = TROUBLE[code] ?? (cause instanceof Error ? cause.message : String(cause))
  return new StorageUnavailable(
    `the PostgreSQL database "${database}" at ${host}:${port} (user "${user}") cannot be used: ${trouble}`,
    { cause },
  )
}
