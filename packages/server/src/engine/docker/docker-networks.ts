import { z } from 'zod'
import { EngineError } from '../container-engine.ts'
import { LABELS } from './container-identity.ts'
import type { EngineApi } from './engine-api.ts'
import type { EngineNetworks } from './engine-networks.ts'
import { CONFLICT, isOk, NOT_FOUND, refusal } from './refusal.ts'

const NetworkAnswer = z.object({
  IPAM: z.object({ Config: z.array(z.object({ Subnet: z.string().optional() })).nullish() }),
})

/**
 * One bridge for all workspaces of this server, on which the daemon lets no container reach another. A bridge for each
 * would run out: Docker has addresses for about thirty.
 */
export class DockerNetworks implements EngineNetworks {
  readonly #api: EngineApi
  readonly #prefix: string
  readonly #instanceId: string
  #subnets: readonly string[] = []

  constructor({ api, prefix, instanceId }: { api: EngineApi; prefix: string; instanceId: string }) {
    this.#api = api
    this.#prefix = prefix
    this.#instanceId = instanceId
  }

  get subnets(): readonly string[] {
    return this.#subnets
  }

  /** It is kept for the next start, whether anybody uses it or not. */
  async adopt(): Promise<void> {
    await this.#find()
  }

  async prepare(): Promise<string> {
    if (await this.#find()) return this.#name
    await this.#create()
    if (await this.#find()) return this.#name
    throw new EngineError('failed', 'the network is gone as soon as it was made')
  }

  /** The other workspaces still use it. */
  async release(): Promise<void> {}

  get #name(): string {
    return `svc-${this.#instanceId}`
  }

  /** Learns its subnets. */
  async #find(): Promise<boolean> {
    const answer = await this.#api.ask({ method: 'GET', path: `${this.#prefix}/networks/${this.#name}` })
    if (answer.status === NOT_FOUND) return false
    if (!isOk(answer)) throw refusal('look at the network', answer)
    const found = (NetworkAnswer.parse(answer.body).IPAM.Config ?? []).flatMap(({ Subnet }) => Subnet ?? [])
    const unknown = found.filter((subnet) => !this.#subnets.includes(subnet))
    if (unknown.length > 0) this.#subnets = [...this.#subnets, ...unknown]
    return true
  }

  async #create(): Promise<void> {
    const body = {
      Name: this.#name,
      Driver: 'bridge',
      Labels: { [LABELS.managed]: 'true', [LABELS.instance]: this.#instanceId },
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
    }
    const answer = await this.#api.ask({
      method: 'POST',
      path: `${this.#prefix}/networks/create`,
      body,
      repeatable: true,
    })
    if (!isOk(answer) && answer.status !== CONFLICT) throw refusal('make a network', answer)
  }
}
