import { secret } from '../builders.ts'
import { InvalidValue } from '../invalid-value.ts'

export const storageRows = {
  databaseUrl: secret({
    env: 'SVCD_DATABASE_URL',
    type: 'secret, a postgres:// URL',
    parse: parseDatabaseUrl,
    unset: 'unset: SQLite in the data directory',
    reload: 'restart',
    doc: 'PostgreSQL database to use instead of the embedded one.',
  }),
}

function parseDatabaseUrl(text: string): string {
  const protocol = URL.parse(text.trim())?.protocol
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') {
    throw new InvalidValue('must be a URL that starts with postgres://')
  }
  return text.trim()
}
