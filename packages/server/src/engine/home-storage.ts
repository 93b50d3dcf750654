import type { Readable } from 'node:stream'

/**
 * The home trees of workspaces: what is mounted at `/home`, and outlives every container. Names are relative to it,
 * with `/` between the parts. Everything in it belongs to the workspace's user.
 */
export interface HomeStorage {
  /** Makes an empty one, unless it is there. */
  ensure(workspaceId: string): Promise<void>
  /** With everything in it. One that is not there is a success. */
  remove(workspaceId: string): Promise<void>
  /**
   * Refuses (`HomeNameRefused`) a name whose way passes through a link, as far as it exists: something mounted there
   * would land where the link leads. For homes that nobody is using.
   */
  requirePlainWay(workspaceId: string, name: string): Promise<void>
  /** At the start of a server: removes what interrupted removals left. */
  sweep(): Promise<void>
  /** Bytes it takes, as far as they could be counted until `signal` aborts. */
  measure(workspaceId: string, signal: AbortSignal): Promise<number>
  /** Bytes that could still be written. */
  freeBytes(): Promise<number>
  /**
   * Everything in it, parents before their content. Files that vanish meanwhile are left out. What nobody could copy
   * in sensible time is named only: it ends no walk, and holds none up.
   */
  walk(workspaceId: string): AsyncIterable<HomeEntry>
  /** Fills a new home. Nothing can be written outside of it, whatever the names and links given say. */
  writer(workspaceId: string): HomeWriter
}

export type HomeEntry =
  /** Something that is there and is not shown, with whatever is in it. */
  | { readonly kind: 'left-out'; readonly name: string; readonly reason: string }
  | { readonly kind: 'directory'; readonly name: string; readonly mode: number; readonly modifiedAt: number }
  | { readonly kind: 'link'; readonly name: string; readonly target: string; readonly modifiedAt: number }
  | {
      readonly kind: 'file'
      readonly name: string
      readonly mode: number
      readonly modifiedAt: number
      readonly size: number
      /**
       * Exactly `size` bytes: cut, or filled with zeros, when the file changes meanwhile. To be read before the next
       * entry is asked for, which ends it.
       */
      open(): Readable
    }

/** A name or a link that no home may hold. `message` says which and why, and may be shown. */
export class HomeNameRefused extends Error {
  override readonly name = 'HomeNameRefused'
}

/**
 * Throws `HomeNameRefused` for a name that leaves the home or passes through a link. Missing parents are made; of two
 * entries with one name the later one stays.
 */
export interface HomeWriter {
  directory(name: string, mode: number): Promise<void>
  /** Resolves when all of `content` is written. */
  file(name: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Links are made only at the end, by `finish`, so that nothing can be written through one. */
  link(name: string, target: string): Promise<void>
  /** A second name for a file that was written before; anything else is refused. */
  hardLink(name: string, target: string): Promise<void>
  finish(): Promise<void>
  /** Lets go of what it holds, when it will not be finished. `finish` does it too. */
  close(): Promise<void>
}
