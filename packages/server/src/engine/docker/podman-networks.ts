import { z } from 'zod'
import type { Logger } from '../../kernel/logger.ts'
import { LABELS, onlyOurs } from './container-identity.ts'
import type { EngineApi } from './engine-api.ts'
import type { EngineNetworks } from './engine-networks.ts'
import type { Place } from './place.ts'
import { CONFLICT, isOk, NOT_FOUND, refusal } from './refusal.ts'

const NetworkAnswer = z.object({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  subnets: z.array(z.object({ subnet: z.string() })).optional(),
})
type NetworkAnswer = z.infer<typeof NetworkAnswer>

interface NetworksParts {
  readonly api: EngineApi
  readonly prefix: string
  readonly instanceId: string
  readonly log: Logger
}

/**
 * A bridge for each workspace, from which no other one can be reached. It costs two milliseconds to make: it is only
 * a file until a container is started in it. Without the engine's own name server, which would be one more way
 * between containers.
 */
export class PodmanNetworks implements EngineNetworks {
  readonly #api: EngineApi
  readonly #prefix: string
  readonly #instanceId: string
  readonly #log: Logger
  /** By the network's name. */
  readonly #subnetsOf = new Map<string, readonly string[]>()
  #subnets: readonly string[] = []

  constructor({ api, prefix, instanceId, log }: NetworksParts) {
    this.#api = api
    this.#prefix = prefix
    this.#instanceId = instanceId
    this.#log = log
  }

  get subnets(): readonly string[] {
    return this.#subnets
  }

  async adopt(isInUse: (workspaceId: string) => boolean): Promise<void> {
    for (const network of await this.#list()) {
      this.#learn(network)
      const workspaceId = network.labels?.[LABELS.workspace]
      if (workspaceId === undefined || isInUse(workspaceId)) continue
      await this.#remove(network.name).catch((error: unknown) =>
        this.#log.warning('the network of an earlier workspace could not be removed', { error }),
      )
    }
  }

  async prepare(place: Place): Promise<string> {
    const name = this.#name(place)
    const body = {
      name,
      driver: 'bridge',
      dns_enabled: false,
      options: { isolate: 'true' },
      labels: {
        [LABELS.managed]: 'true',
        [LABELS.instance]: this.#instanceId,
        [LABELS.workspace]: place.workspaceId,
        [LABELS.role]: place.role,
      },
    }
    const answer = await this.#api.ask({
      method: 'POST',
      path: `${this.#prefix}/networks/create`,
      body,
      repeatable: true,
    })
    if (!isOk(answer) && answer.status !== CONFLICT) throw refusal('make a network', answer)
    // One that was left behind is as good as a new one: the name is made from our ids alone.
    this.#learn(isOk(answer) ? NetworkAnswer.parse(answer.body) : await this.#look(name))
    return name
  }

  async release(place: Place): Promise<void> {
    await this.#remove(this.#name(place))
  }

  #learn({ name, subnets = [] }: NetworkAnswer): void {
    const all = subnets.map(({ subnet }) => subnet)
    this.#subnetsOf.set(name, all)
    this.#subnets = [...this.#subnetsOf.values()].flat()
  }

  #forget(name: string): void {
    this.#subnetsOf.delete(name)
    this.#subnets = [...this.#subnetsOf.values()].flat()
  }

  #name({ workspaceId, role }: Place): string {
    return `${role === 'workspace' ? 'svc' : 'svc-net'}-${this.#instanceId}-${workspaceId}`
  }

  async #remove(name: string): Promise<void> {
    const answer = await this.#api.ask({
      method: 'DELETE',
      path: `${this.#prefix}/networks/${encodeURIComponent(name)}`,
    })
    if (!isOk(answer) && answer.status !== NOT_FOUND) throw refusal('remove a network', answer)
    this.#forget(name)
  }

  async #look(name: string): Promise<NetworkAnswer> {
    const path = `${this.#prefix}/networks/${encodeURIComponent(name)}/json`
    const answer = await this.#api.ask({ method: 'GET', path })
    if (!isOk(answer)) throw refusal('look at a network', answer)
    return NetworkAnswer.parse(answer.body)
  }

  async #list(): Promise<NetworkAnswer[]> {
    const query = { filters: onlyOurs(this.#instanceId) }
    const answer = await this.#api.ask({ method: 'GET', path: `${this.#prefix}/networks/json`, query })
    if (!isOk(answer)) throw refusal('list networks', answer)
    return z.array(NetworkAnswer).nullable().parse(answer.body) ?? []
  }
}
