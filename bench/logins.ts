import { startBenchServer } from './bench-server.ts'
import type { Figure } from './figure.ts'
import { percentile } from './statistics.ts'

const LOGINS = 20
/** Between two requests of somebody who is signed in. */
const PAUSE_MS = 5
const BUDGET_MS = 20
const QUIET_REQUESTS = 400

/** How much later other people's answers come while twenty people sign in at the same moment: their 99th percentile. */
export async function parallelLogins(): Promise<Figure> {
  const server = await startBenchServer()
  const request = async () => {
    const startedMs = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.edge}/api/v1/me`, {
      headers: { authorization: `Bearer ${server.token}` },
    })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`a request was answered with ${response.status}`)
    return performance.now() - startedMs
  }
  const requestsUntil = async (isOver: (count: number) => boolean) => {
    const took: number[] = []
    while (!isOver(took.length)) {
      took.push(await request())
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    return took
  }
  await requestsUntil((count) => count >= QUIET_REQUESTS) // warm up
  const quiet = p99(await requestsUntil((count) => count >= QUIET_REQUESTS))
  let signedIn = 0
  const logins = Promise.all(
    Array.from({ length: LOGINS }, async (_, n) => {
      await server.login(`person-${n}@example.com`)
      signedIn++
    }),
  )
  const during = p99(await requestsUntil(() => signedIn === LOGINS))
  await logins
  await server.stop()
  return {
    work: `other requests during ${LOGINS} sign-ins at once, p99`,
    measured: `${during.toFixed(1)} ms, ${(during - quiet).toFixed(1)} ms later`,
    baseline: `the same without sign-ins: ${quiet.toFixed(1)} ms; budget ${BUDGET_MS} ms later`,
    ratio: Math.max(0, during - quiet) / BUDGET_MS,
    budget: { at: 'most', ratio: 1 },
  }
}

const p99 = (values: readonly number[]): number => percentile(values, 0.99)
