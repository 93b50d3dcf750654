import { createHash } from 'node:crypto'

export type Dialect = 'sqlite' | 'postgres'

/**
 * The few words in which the databases differ, written `{word}` in a statement. Everything else (plain `text`,
 * `not null`, `references`, indexes) is the same in both.
 */
const WORDS: Record<Dialect, Readonly<Record<string, string>>> = {
  sqlite: {
    // AUTOINCREMENT: without it the id of a deleted newest row is given out again.
    identity: 'integer primary key autoincrement',
    integer: 'integer',
    real: 'real',
    text: 'text',
    // Makes SQLite refuse a value of the wrong type, as PostgreSQL always does. Ends every `create table`.
    strict: 'strict',
  },
  postgres: {
    identity: 'bigint generated always as identity primary key',
    integer: 'bigint',
    real: 'double precision',
    // Compared and sorted byte by byte, as SQLite does, whatever the locale of the cluster.
    text: 'text collate "C"',
    strict: '',
  },
}

/** One statement for both databases, or one for each where they have nothing in common, such as triggers. */
export type Statement = string | { readonly [D in Dialect]: readonly string[] }

/** One step of the schema. Never edited once released: databases remember its digest. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly statements: readonly Statement[]
}

/** The statements as this database will run them. */
export function statementsFor(migration: Migration, dialect: Dialect): string[] {
  return migration.statements
    .flatMap((statement) => (typeof statement === 'string' ? [statement] : statement[dialect]))
    .map((statement) => statement.replace(/\{(\w+)\}/g, (_, word: string) => translate(word, dialect)))
}

export function digestOf(migration: Migration, dialect: Dialect): string {
  return createHash('sha256')
    .update(JSON.stringify(statementsFor(migration, dialect)))
    .digest('hex')
}

function translate(word: string, dialect: Dialect): string {
  const translation = WORDS[dialect][word]
  if (translation === undefined) throw new Error(`a migration uses {${word}}, which is no word of ours`)
  return translation
}
