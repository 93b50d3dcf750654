import type { Readable } from 'node:stream'
import type { ErrorCode } from '@svc/protocol/errors'
import type { Permission } from '@svc/protocol/permissions'
import type { z } from 'zod'
import type { Logger } from './logger.ts'
import type { FormDescription, Upload } from './upload.ts'

/** Who is asking. Made by the sign-in check alone, so a handler that has one may rely on it. */
export interface Caller {
  readonly userId: string
  readonly email: string
  /** Stays the same when the session's token is refreshed. */
  readonly sessionId: string
  readonly groupIds: ReadonlySet<string>
}

/** A permission on a resource; `:name` in the path is filled from the route's parameters. */
export interface Need {
  readonly permission: Permission
  readonly on: `/${string}`
}

/** Several permissions: every one of them, or any one of them. */
export type Needs = { readonly allOf: readonly Need[] } | { readonly anyOf: readonly Need[] }

export const allOf = (...needs: readonly Need[]): Needs => ({ allOf: needs })
export const anyOf = (...needs: readonly Need[]): Needs => ({ anyOf: needs })

/** Every permission such a rule names. */
export function needsNamed(needs: Need | Needs): readonly Need[] {
  if ('allOf' in needs) return needs.allOf
  return 'anyOf' in needs ? needs.anyOf : [needs]
}

/**
 * Who may call a route. There is no default: a row that does not say does not compile.
 * - `anyone`: no sign-in is looked at.
 * - `anyone, better signed in`: the answer says more to a signed-in caller.
 * - `signed in`: any account that may use the server.
 * - `signed in, password change due`: also one that must choose a new password first; everything else is shut to it.
 * - `anyone, judged by token`: the route judges the token itself, because it also takes one that is used up, or none.
 * - a `Need`, or several: signed in and holding that permission.
 * - `operator`: a peer on this machine, or the bearer of a secret the operator set.
 */
export type Access =
  | 'anyone'
  | 'anyone, better signed in'
  | 'signed in'
  | 'signed in, password change due'
  | 'anyone, judged by token'
  | 'operator'
  | Need
  | Needs

/** How much a route asks of a sign-in. */
export type SignIn = 'required' | 'required, password change due' | 'optional'

type CallerFor<A extends Access> = A extends 'anyone' | 'operator' | 'anyone, judged by token'
  ? null
  : A extends 'anyone, better signed in'
    ? Caller | null
    : Caller

/** What a handler may know of the request beyond its validated input. */
export interface RequestFacts {
  readonly id: string
  readonly method: string
  /** Without the query: it may hold secrets. */
  readonly path: string
  /** The person's address: the peer's, or what a trusted proxy reports. */
  readonly clientAddress: string | undefined
  /** Asked on the machine the server runs on, by nobody in between. */
  readonly isFromThisMachine: boolean
  readonly userAgent: string | undefined
  readonly referer: string | undefined
  /** Of the page that sent it, when a browser says so. */
  readonly origin: string | undefined
  /** The token of the `Authorization` header. A secret. */
  readonly bearerToken: string | undefined
  /** Where a browser finds this server; safe to put into links. Ends without a slash. */
  readonly externalUrl: string
  readonly log: Logger
}

/** An answer that is more than JSON with status 200. */
export class Reply {
  readonly body: string | Buffer | Readable | object
  readonly headers: Readonly<Record<string, string>>
  readonly status: number

  constructor(
    body: string | Buffer | Readable | object,
    options: { headers?: Record<string, string>; status?: number } = {},
  ) {
    this.body = body
    this.headers = options.headers ?? {}
    this.status = options.status ?? 200
  }
}

/** A successful answer that is not JSON: its media type, and a sentence for the API reference. */
export interface OtherMedia {
  readonly mediaType: string
  readonly description: string
}

type Schema = z.ZodType
type Output<S> = S extends Schema ? z.output<S> : undefined
type Answer<S> = S extends Schema ? z.input<S> | Reply : Reply

export interface RouteRow<A extends Access, P, Q, B, R, U = undefined> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, unless `base` says otherwise. Parameters are written `:name`. */
  readonly path: `/${string}`
  readonly base?: 'root'
  /** The heading the API reference lists it under. */
  readonly tag: string
  readonly summary: string
  readonly needs: A
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Larger request bodies are refused with 413. Default: 64 KiB. */
  readonly bodyLimitBytes?: number
  /** Instead of `body`: a form with a file, which the handler reads as it comes. No limit but the handler's own. */
  readonly upload?: U
  /** The shape of the 200 answer. */
  readonly reply: R
  /** Refusals of this route's own, for the API reference; those every route can give are added. */
  readonly refusals?: readonly ErrorCode[]
  handle(input: {
    caller: CallerFor<A>
    params: Output<P>
    query: Output<Q>
    body: Output<B>
    upload: U extends FormDescription ? Upload : undefined
    request: RequestFacts
  }): Answer<R> | Promise<Answer<R>>
}

/** A row whose particular types are forgotten, so that rows of all kinds fit in one table. */
export interface Route {
  readonly method: RouteRow<Access, unknown, unknown, unknown, unknown>['method']
  /** The whole path, `/api/v1` included. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly needs: Access
  readonly params: Schema | undefined
  readonly query: Schema | undefined
  readonly body: Schema | undefined
  readonly bodyLimitBytes: number | undefined
  readonly upload: FormDescription | undefined
  readonly reply: Schema | OtherMedia
  readonly refusals: readonly ErrorCode[]
  handle(input: {
    caller: Caller | null
    params: unknown
    query: unknown
    body: unknown
    upload: Upload | undefined
    request: RequestFacts
  }): unknown
}

export const API_PREFIX = '/api/v1'

/** One row of the route table: who may call, what comes in, what goes out, one call. */
export function route<
  A extends Access,
  R extends Schema | OtherMedia,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  U extends FormDescription | undefined = undefined,
>(row: RouteRow<A, P, Q, B, R, U>): Route {
  return {
    method: row.method,
    path: row.base === 'root' ? row.path : `${API_PREFIX}${row.path}`,
    tag: row.tag,
    summary: row.summary,
    needs: row.needs,
    params: row.params,
    query: row.query,
    body: row.body,
    bodyLimitBytes: row.bodyLimitBytes,
    upload: row.upload,
    reply: row.reply,
    refusals: row.refusals ?? [],
    // The dispatcher calls this only with input that the row's own schemas and access rule produced.
    handle: row.handle as Route['handle'],
  }
}
