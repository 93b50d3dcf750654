import { z } from 'zod'
import { LABELS } from './container-identity.ts'
import type { EngineApi } from './engine-api.ts'
import type { EngineNetworks } from './engine-networks.ts'
import { isOk, refusal } from './refusal.ts'

const CONFLICT = 409
const NOT_FOUND = 404

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

  constructor({ api, prefix, instanceId }: { api: EngineApi; prefix: string; instanceId: string }) {
    this.#api = api
    this.#prefix = prefix
    this.#instanceId = instanceId
  }

  async prepare(): Promise<string> {
    if ((await this.#find()) === undefined) await this.#create()
    return this.#name
  }

  /** The other workspaces still use it. */
  async release(): Promise<void> {}

  /** It is kept for the next start. */
  async prune(): Promise<void> {}

  async subnets(): Promise<string[]> {
    return ((await this.#find())?.IPAM.Config ?? []).flatMap(({ Subnet }) => Subnet ?? [])
  }

  get #name(): string {
    return `svc-${this.#instanceId}`
  }

  async #find(): Promise<z.infer<typeof NetworkAnswer> | undefined> {
    const answer = await this.#api.ask({ method: 'GET', path: `${this.#prefix}/networks/${this.#name}` })
    if (answer.status === NOT_FOUND) return undefined
    if (!isOk(answer)) throw refusal('look at the network', answer)
    return NetworkAnswer.parse(answer.body)
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
