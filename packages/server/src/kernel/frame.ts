import type { Permission } from '@svc/protocol/permissions'
import type { BinaryFrame, BinaryKind } from '@svc/protocol/ws/binary-frames'
import type { Command, FrameOf } from '@svc/protocol/ws/client-frames'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Peer } from './peer.ts'

/**
 * What a command waits for. Those of one lane are dealt with one after the other. Those of `workspace` also wait for all
 * that came before them, and all others wait for those: they mean the workspace that is being opened. `free` ones wait
 * for nothing, so neither a heartbeat nor an acknowledgement ever stands behind the start of a container.
 */
export type Lane = 'workspace' | 'terminal' | 'exec' | 'ssh' | 'free'

/** A permission on the workspace, or several. There is no default: a row that does not say does not compile. */
export type FrameNeed =
  | 'nothing'
  | Permission
  | { readonly anyOf: readonly Permission[] }
  | { readonly allOf: readonly Permission[] }

/** Every permission that such a rule names. */
export function permissionsNamed(needs: FrameNeed): readonly Permission[] {
  if (needs === 'nothing') return []
  if (typeof needs === 'string') return [needs]
  return 'anyOf' in needs ? needs.anyOf : needs.allOf
}

/** How a refusal reads: that the workspace is out of reach, or only this action. */
export type FrameRefusal = 'forbidden' | 'action' | { readonly message: string }

export interface FrameInput<C extends Command> {
  readonly peer: Peer
  readonly frame: FrameOf<C>
  /** The direct answer: repeats the `req` of the command. A command that gives none is acknowledged. */
  reply(frame: ServerFrame): void
  /** The client gave a `req`, so it waits for an answer of some kind. */
  readonly isAwaited: boolean
}

/**
 * One row for each command: what it is about, what it needs, one call. `A` is what the composition root knows of a
 * socket that has a workspace open. The dispatcher checks `needs`, on each message; no handler checks again.
 */
export type FrameRow<A, C extends Command> =
  | {
      readonly scope: 'connection'
      readonly lane: Lane
      handle(input: FrameInput<C>): void | Promise<void>
    }
  /** About a workspace that the frame names. */
  | {
      readonly scope: 'named workspace'
      readonly lane: Lane
      readonly needs: FrameNeed
      readonly refusal: FrameRefusal
      workspaceIn(frame: FrameOf<C>): string
      handle(input: FrameInput<C>): void | Promise<void>
    }
  /** About the workspace that is open on this socket; `not_connected` when there is none. */
  | {
      readonly scope: 'workspace'
      readonly lane: Lane
      readonly needs: FrameNeed
      readonly refusal?: FrameRefusal
      handle(input: FrameInput<C> & { readonly attachment: A }): void | Promise<void>
    }

/** Every command has a row, or this does not compile. */
export type FrameTable<A> = { readonly [C in Command]: FrameRow<A, C> }

/** The rows of one feature. */
export type FrameRows<A, C extends Command> = { readonly [K in C]: FrameRow<A, K> }

/** Bytes of a client with `bin`: always for something that is open, so nothing is needed. */
export interface BinaryRow<A> {
  readonly lane: Lane
  handle(input: { readonly peer: Peer; readonly attachment: A; readonly frame: BinaryFrame }): void
}

export type BinaryTable<A> = {
  readonly [K in Extract<BinaryKind, 'terminalInput' | 'execStdin' | 'sshAgent'>]: BinaryRow<A>
}
