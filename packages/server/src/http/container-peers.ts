import type { BlockList } from 'node:net'
import { inList, isLoopback, proxyList } from './client-address.ts'

interface ContainerPeersParts {
  /** What the operator says; undefined when the engine is to be believed. */
  readonly configured: () => readonly string[] | undefined
  /** What the engine says. */
  readonly known: () => readonly string[]
}

/** Tells connections of containers from those of people. Containers have no business with the API of people. */
export class ContainerPeers {
  readonly #parts: ContainerPeersParts
  #networks: readonly string[] = []
  #list: BlockList = proxyList([])

  constructor(parts: ContainerPeersParts) {
    this.#parts = parts
  }

  has(address: string): boolean {
    // However wide the networks are said to be, this machine itself stays welcome.
    return !isLoopback(address) && inList(this.#current(), address)
  }

  #current(): BlockList {
    const networks = this.#parts.configured() ?? this.#parts.known()
    if (networks !== this.#networks) {
      this.#networks = networks
      this.#list = proxyList(networks)
    }
    return this.#list
  }
}
