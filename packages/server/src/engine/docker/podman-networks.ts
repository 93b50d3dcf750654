import { z } from 'zod'
import type { ContainerRole } from '../container-engine.ts'
import { LABELS, onlyOurs } from './container-identity.ts'
import type { EngineApi } from './engine-api.ts'
import type { EngineNetworks } from './engine-networks.ts'
import { isOk, refusal } from './refusal.ts'

const CONFLICT = 409
const NOT_FOUND = 404

const NetworksAnswer = z
  .array(
    z.object({
      name: z.string(),
      labels: z.record(z.string(), z.string()).optional(),
      subnets: z.array(z.object({ subnet: z.string() })).optional(),
    }),
  )
  .nullable()

/**
 * A bridge for each workspace, from which no other one can be reached. It costs two milliseconds to make: it is only
 * a file until a container is started in it. Without the engine's own name server, which would be one more way
 * between containers.
 */
export class PodmanNetworks implements EngineNetworks {
  readonly #api: EngineApi
  readonly #prefix: string
  readonly #instanceId: string

  constructor({ api, prefix, instanceId }: { api: EngineApi; prefix: string; instanceId: string }) {
    this.#api = api
    this.#prefix = prefix
    this.#instanceId = instanceId
  }

  async prepare(workspaceId: string, role: ContainerRole): Promise<string> {
    const name = this.#name(workspaceId, role)
    const body = {
      name,
      driver: 'bridge',
      dns_enabled: false,
      options: { isolate: 'true' },
      labels: {
        [LABELS.managed]: 'true',
        [LABELS.instance]: this.#instanceId,
        [LABELS.workspace]: workspaceId,
        [LABELS.role]: role,
      },
    }
    const answer = await this.#api.ask({
      method: 'POST',
      path: `${this.#prefix}/networks/create`,
      body,
      repeatable: true,
    })
    // One that was left behind is as good as a new one: the name is made from our ids alone.
    if (isOk(answer) || answer.status === CONFLICT) return name
    throw refusal('make a network', answer)
  }

  async release(workspaceId: string, role: ContainerRole): Promise<void> {
    await this.#remove(this.#name(workspaceId, role))
  }

  async prune(isInUse: (workspaceId: string) => boolean): Promise<void> {
    for (const { name, labels } of await this.#list()) {
      const workspaceId = labels?.[LABELS.workspace]
      if (workspaceId !== undefined && !isInUse(workspaceId)) await this.#remove(name)
    }
  }

  async subnets(): Promise<string[]> {
    return (await this.#list()).flatMap(({ subnets }) => subnets?.map(({ subnet }) => subnet) ?? [])
  }

  #name(workspaceId: string, role: ContainerRole): string {
    return `${role === 'workspace' ? 'svc' : 'svc-net'}-${this.#instanceId}-${workspaceId}`
  }

  async #remove(name: string): Promise<void> {
    const answer = await this.#api.ask({
      method: 'DELETE',
      path: `${this.#prefix}/networks/${encodeURIComponent(name)}`,
    })
    if (!isOk(answer) && answer.status !== NOT_FOUND) throw refusal('remove a network', answer)
  }

  async #list(): Promise<NonNullable<z.infer<typeof NetworksAnswer>>> {
    const query = { filters: onlyOurs(this.#instanceId) }
    const answer = await this.#api.ask({ method: 'GET', path: `${this.#prefix}/networks/json`, query })
    if (!isOk(answer)) throw refusal('list networks', answer)
    return NetworksAnswer.parse(answer.body) ?? []
  }
}
