import type { CarriedError } from './sqlite-error.ts'
import type { StatementResult } from './statements.ts'

/** What the main thread asks of the writer's thread. */
export type WriterTask =
  | { readonly kind: 'open'; readonly path: string }
  /** One statement. It may neither begin nor end a transaction. */
  | { readonly kind: 'run'; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: 'begin' }
  | { readonly kind: 'commit' }
  /** Ends the transaction if one is open: after some errors SQLite has already ended it. */
  | { readonly kind: 'rollback' }
  /** The last request: the thread ends after its reply. */
  | { readonly kind: 'close' }

/** Each request gets exactly one reply, in order. */
export type WriterRequest = WriterTask & { readonly id: number }

export type WriterReply = { readonly id: number } & (
  | { readonly result: StatementResult }
  | { readonly error: CarriedError }
)
