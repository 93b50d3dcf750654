import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const PASSWORD = 'the password of the benchmark'

/** `http-server.ts` in a process of its own, with somebody signed in. */
export interface BenchServer {
  readonly edge: number
  readonly bare: number
  readonly token: string
  /** Signs in `ann@example.com` or `person-<n>@example.com`. */
  login(email: string): Promise<void>
  processorSeconds(): Promise<number>
  stop(): Promise<void>
}

export async function startBenchServer(): Promise<BenchServer> {
  const server = fork(join(import.meta.dirname, 'http-server.ts'), [PASSWORD], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  })
  const [{ edge, bare }] = (await once(server, 'message')) as [{ edge: number; bare: number }]
  const login = async (email: string) => {
    const response = await fetch(`http://127.0.0.1:${edge}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: email, password: PASSWORD }),
    })
    const body = (await response.json()) as { access_token?: string; detail?: string }
    if (body.access_token === undefined) throw new Error(`nobody could sign in: ${body.detail}`)
    return body.access_token
  }
  return {
    edge,
    bare,
    token: await login('ann@example.com'),
    async login(email) {
      await login(email)
    },
    processorSeconds: () => processorSeconds(server),
    async stop() {
      server.disconnect()
      await once(server, 'exit')
    },
  }
}

async function processorSeconds(server: ChildProcess): Promise<number> {
  server.send('processor time?')
  const [microseconds] = (await once(server, 'message')) as [number]
  return microseconds / 1e6
}
