import type { Peers } from '../kernel/peer.ts'
import type { Connection } from './connection.ts'

/** Every socket that is open, by person and by session. */
export class OpenSockets implements Peers {
  readonly #all = new Set<Connection>()
  readonly #byUser = new Map<string, Set<Connection>>()
  readonly #bySession = new Map<string, Set<Connection>>()

  add(connection: Connection): void {
    const { userId, sessionId } = connection.caller
    this.#all.add(connection)
    put(this.#byUser, userId, connection)
    put(this.#bySession, sessionId, connection)
  }

  remove(connection: Connection): void {
    const { userId, sessionId } = connection.caller
    this.#all.delete(connection)
    take(this.#byUser, userId, connection)
    take(this.#bySession, sessionId, connection)
  }

  all(): Iterable<Connection> {
    return this.#all
  }

  of(userId: string): Iterable<Connection> {
    return this.#byUser.get(userId) ?? []
  }

  ofSession(sessionId: string): Iterable<Connection> {
    return this.#bySession.get(sessionId) ?? []
  }
}

function put(index: Map<string, Set<Connection>>, key: string, connection: Connection): void {
  const set = index.get(key)
  if (set) set.add(connection)
  else index.set(key, new Set([connection]))
}

function take(index: Map<string, Set<Connection>>, key: string, connection: Connection): void {
  const set = index.get(key)
  set?.delete(connection)
  if (set?.size === 0) index.delete(key)
}
