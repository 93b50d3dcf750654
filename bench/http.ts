import autocannon from 'autocannon'
import { startBenchServer } from './bench-server.ts'
import type { Figure } from './figure.ts'

/** Many short rounds in turn: whatever else the machine does then falls on both alike. */
const ROUNDS = 41
const REQUESTS_PER_ROUND = 6000
const WARM_UP_ROUNDS = 5
const CONNECTIONS = 64

/**
 * An authenticated GET with a permission, through the whole edge, against a bare Fastify route in the same process.
 * Counted in requests per second of the server's own processor time: what the client and other programs take from the
 * machine does not count.
 */
export async function authenticatedGet(): Promise<Figure> {
  const server = await startBenchServer()
  const rate = async (port: number) => {
    const before = await server.processorSeconds()
    const result = await autocannon({
      url: `http://127.0.0.1:${port}/api/v1/me`,
      connections: CONNECTIONS,
      amount: REQUESTS_PER_ROUND,
      headers: { authorization: `Bearer ${server.token}` },
    })
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed`)
    return result.requests.total / ((await server.processorSeconds()) - before)
  }
  const rounds: { bare: number; edge: number }[] = []
  for (let i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
    rounds.push({ bare: await rate(server.bare), edge: await rate(server.edge) })
  }
  rounds.splice(0, WARM_UP_ROUNDS)
  await server.stop()
  const median = rounds.toSorted((a, b) => a.edge / a.bare - b.edge / b.bare)[Math.floor(ROUNDS / 2)]
  if (!median) throw new Error('no round was measured')
  return {
    work: 'authenticated GET',
    measured: `${Math.round(median.edge)} requests per processor second`,
    baseline: `bare Fastify route, same process: ${Math.round(median.bare)}`,
    ratio: median.edge / median.bare,
    budget: { at: 'least', ratio: 0.6 },
  }
}
