import { type Selectable, sql, type Transaction } from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import type { Database, MigrationsTable } from '../database.ts'
import { type Storage, StorageUnavailable } from '../storage.ts'
import { type Dialect, digestOf, type Migration, statementsFor } from './migration.ts'

export interface MigrateOptions {
  readonly transaction: Storage['transaction']
  readonly dialect: Dialect
  readonly migrations: readonly Migration[]
  readonly clock: Clock
}

/**
 * Brings the database to the newest schema. Each step and its record are one transaction, which looks anew at what is
 * already applied: a crash leaves the step before intact, and servers starting together do each step once.
 */
export async function migrate({ transaction, dialect, migrations, clock }: MigrateOptions): Promise<void> {
  let applied: Migration | undefined
  do {
    applied = await transaction(async (tx) => {
      const next = nextMigration(await appliedMigrations(tx, dialect), migrations, dialect)
      if (next) await apply(next, tx, dialect, clock)
      return next
    })
  } while (applied)
}

/** The first step that is not applied. Pure; refuses a history that is not the beginning of ours. */
export function nextMigration(
  applied: readonly Selectable<MigrationsTable>[],
  known: readonly Migration[],
  dialect: Dialect,
): Migration | undefined {
  if (known.some((migration, index) => migration.number !== index + 1)) {
    throw new Error('the list of migrations is not numbered 1, 2, 3 …')
  }
  const newest = Math.max(0, ...applied.map((record) => record.number))
  if (newest > known.length) {
    throw new StorageUnavailable(
      `the database has schema version ${newest}, but this program knows only ${known.length}: ` +
        'start the newer program, or restore a backup taken before the upgrade',
    )
  }
  for (const migration of known.slice(0, newest)) {
    const record = applied.find(({ number }) => number === migration.number)
    if (!record) {
      throw new StorageUnavailable(
        `the database has schema version ${newest} without step ${migration.number} (${migration.name}): ` +
          'restore a backup',
      )
    }
    if (record.name !== migration.name || record.digest !== digestOf(migration, dialect)) {
      throw new StorageUnavailable(
        `step ${migration.number} of the schema (${migration.name}) is not the one this database was made with ` +
          `(${record.name}): start the program that made it, or restore a backup`,
      )
    }
  }
  return known[newest]
}

async function appliedMigrations(tx: Transaction<Database>, dialect: Dialect) {
  for (const statement of statementsFor(recordsTable, dialect)) await sql.raw(statement).execute(tx)
  return tx.selectFrom('migrations').selectAll().execute()
}

/** Not a numbered step: it has to be there before the first one can be recorded. */
const recordsTable: Migration = {
  number: 0,
  name: 'migrations',
  statements: [
    `create table if not exists migrations (
      number {integer} primary key,
      name text not null,
      digest text not null,
      applied_at {real} not null
    ) {strict}`,
  ],
}

async function apply(migration: Migration, tx: Transaction<Database>, dialect: Dialect, clock: Clock): Promise<void> {
  const { number, name } = migration
  try {
    for (const statement of statementsFor(migration, dialect)) await sql.raw(statement).execute(tx)
    const record = { number, name, digest: digestOf(migration, dialect), applied_at: clock.nowMs() / 1000 }
    await tx.insertInto('migrations').values(record).execute()
  } catch (cause) {
    throw new StorageUnavailable(
      `step ${number} of the schema (${name}) failed, and the database stays at version ${number - 1}: ` +
        `${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
}
