import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import autocannon from 'autocannon'
import type { Figure } from './figure.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 64

/** An authenticated GET through the whole edge, against a bare Fastify route in the same process. */
export async function authenticatedGet(): Promise<Figure> {
  const server = fork(join(import.meta.dirname, 'http-server.ts'), { stdio: ['ignore', 'inherit', 'ignore', 'ipc'] })
  const [ports] = (await once(server, 'message')) as [{ edge: number; bare: number; token: string }]
  const rate = async (port: number, seconds: number) => {
    const result = await autocannon({
      url: `http://127.0.0.1:${port}/api/v1/me`,
      connections: CONNECTIONS,
      duration: seconds,
      headers: { authorization: `Bearer ${ports.token}` },
    })
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed`)
    return result.requests.average
  }
  await rate(ports.bare, 1)
  await rate(ports.edge, 1)
  const rounds: { bare: number; edge: number }[] = []
  for (let i = 0; i < ROUNDS; i++)
    rounds.push({ bare: await rate(ports.bare, SECONDS), edge: await rate(ports.edge, SECONDS) })
  server.disconnect()
  await once(server, 'exit')
  const median = rounds.toSorted((a, b) => a.edge / a.bare - b.edge / b.bare)[Math.floor(ROUNDS / 2)]
  if (!median) throw new Error('no round was measured')
  return {
    work: 'authenticated GET',
    measured: `${Math.round(median.edge)} requests/s`,
    baseline: `bare Fastify route, same process: ${Math.round(median.bare)} requests/s`,
    ratio: median.edge / median.bare,
    budget: { at: 'least', ratio: 0.6 },
  }
}
