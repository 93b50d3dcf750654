import { BareEngine } from './bare-engine.ts'
import type { Figure } from './figure.ts'
import { percentile } from './statistics.ts'
import { IMAGE, startWorkspaceServer } from './workspace-server.ts'

const STARTS = 20
const BUDGET = { at: 'most', ratio: 1.6 } as const

/**
 * From the request to start until the agent is ready, and the bare engine to a prompt, in turns. The engine makes the
 * same container, so that what we do beside it shows, and not what the walls cost; a plain one is named beside it.
 */
export async function workspaceStarts(): Promise<Figure[]> {
  const engine = await new BareEngine().ready()
  const server = await startWorkspaceServer()
  const id = await server.create('bench')
  const ours: number[] = []
  const bare: number[] = []
  const plain: number[] = []
  for (let n = -2; n < STARTS; n++) {
    const [same, other] = [await engine.startShell(IMAGE, 'confined'), await engine.startShell(IMAGE, 'plain')]
    await engine.remove(same.id)
    await engine.remove(other.id)
    const startedMs = performance.now()
    await server.start(id)
    const took = performance.now() - startedMs
    await server.stop(id)
    if (n < 0) continue // the first ones warm up
    ours.push(took)
    bare.push(same.took)
    plain.push(other.took)
  }
  await server.end()
  await engine.stop()
  return [0.5, 0.95].map((share) => ({
    work: `start of a workspace until its agent is ready, p${share * 100} of ${STARTS}`,
    measured: `${percentile(ours, share).toFixed(0)} ms`,
    baseline: `bare engine, the same container to a prompt: ${percentile(bare, share).toFixed(0)} ms (with no walls: ${percentile(plain, share).toFixed(0)})`,
    ratio: percentile(ours, share) / percentile(bare, share),
    budget: BUDGET,
  }))
}

/** Twenty at once, beside twenty bare containers at once. */
export async function parallelStarts(): Promise<Figure> {
  const engine = await new BareEngine().ready()
  const server = await startWorkspaceServer()
  const ids: string[] = []
  for (let n = 0; n < STARTS; n++) ids.push(await server.create(`bench-${n}`))
  const bareMs = await timed(async () => {
    const shells = await Promise.all(ids.map(() => engine.startShell(IMAGE, 'confined')))
    return () => Promise.all(shells.map(({ id }) => engine.remove(id)))
  })
  const oursMs = await timed(async () => {
    await Promise.all(ids.map((id) => server.start(id)))
    return () => Promise.all(ids.map((id) => server.stop(id)))
  })
  await server.end()
  await engine.stop()
  return {
    work: `${STARTS} workspaces started at once, until all are ready`,
    measured: `${(oursMs / 1000).toFixed(1)} s`,
    baseline: `bare engine, as many at once: ${(bareMs / 1000).toFixed(1)} s`,
    ratio: oursMs / bareMs,
    budget: BUDGET,
  }
}

/** How long `work` takes, without the clean-up it answers. */
async function timed(work: () => Promise<() => Promise<unknown>>): Promise<number> {
  const startedMs = performance.now()
  const cleanUp = await work()
  const took = performance.now() - startedMs
  await cleanUp()
  return took
}
