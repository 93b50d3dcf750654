import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

interface Answer {
  readonly status: number
  readonly body?: unknown
}

const MadeBody = z.object({ name: z.string(), labels: z.record(z.string(), z.string()) })

/** Podman's API, for faults that a real one cannot be brought to. It keeps containers and networks, and runs nothing. */
export class PodmanStandIn {
  /** By their ids, which are their names. */
  readonly containers = new Map<string, Record<string, string>>()
  /** By their names: the labels, and a subnet for each. */
  readonly networks = new Map<string, { labels: Record<string, string>; subnet: string }>()
  /** Called with `DELETE /networks/x`, for one. May answer in its place, and nothing is done. */
  refuse: (line: string) => Answer | undefined = () => undefined
  /** Called with the same when it is done, before it is answered. */
  delay: (line: string) => Promise<void> = async () => {}
  #made = 0
  readonly #server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://engine').pathname.replace(/^\/v[\d.]+(\/libpod)?/, '')
    const line = `${request.method} ${path}`
    const sent = await text(request)
    const { status, body } = this.refuse(line) ?? this.#answer(line, sent)
    await this.delay(line)
    response.writeHead(status)
    if (path === '/events')
      response.flushHeaders() // it stays open
    else response.end(body === undefined ? undefined : JSON.stringify(body))
  })

  listen(socketPath: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(socketPath, resolve))
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer(line: string, sent: string): Answer {
    const [, method, kind, name = '', verb] = /^(\w+) \/(\w+)\/?([\w.-]*)\/?(\w*)/.exec(line) ?? []
    if (kind === 'version') return ok({ Version: '4', ApiVersion: '1.41', Components: [{ Name: 'Podman Engine' }] })
    if (kind !== 'networks' && kind !== 'containers') return ok({})
    if (kind === 'networks') return this.#network(`${method}`, name, sent)
    if (name === 'json') return ok([...this.containers.keys()].map((Id) => ({ Id })))
    if (name === 'create') {
      const made = MadeBody.parse(JSON.parse(sent))
      this.containers.set(made.name, made.labels)
      return ok({ Id: made.name })
    }
    const labels = this.containers.get(name)
    if (!labels) return { status: 404 }
    if (method === 'DELETE') this.containers.delete(name)
    return verb === 'json' ? ok(inspected(name, labels)) : ok()
  }

  #network(method: string, name: string, sent: string): Answer {
    if (method === 'POST') {
      const { name, labels } = MadeBody.parse(JSON.parse(sent))
      if (this.networks.has(name)) return { status: 409 }
      this.networks.set(name, { labels, subnet: `10.89.${++this.#made}.0/24` })
      return ok(this.#listed(name))
    }
    if (name === 'json') return ok([...this.networks.keys()].map((one) => this.#listed(one)))
    if (!this.networks.has(name)) return { status: 404 }
    if (method === 'DELETE') this.networks.delete(name)
    return ok(this.#listed(name))
  }

  #listed(name: string) {
    const { labels, subnet } = this.networks.get(name) ?? {}
    return { name, labels, subnets: [{ subnet }] }
  }
}

const ok = (body?: unknown): Answer => ({ status: 200, body })

function inspected(id: string, labels: Record<string, string>) {
  const never = new Date(0).toISOString()
  const State = { Running: true, ExitCode: 0, OOMKilled: false, StartedAt: never, FinishedAt: never }
  return { Id: id, Config: { Labels: labels }, State }
}
