import { BareEngine } from './bare-engine.ts'
import type { Figure } from './figure.ts'
import { percentile } from './statistics.ts'
import { IMAGE, startWorkspaceServer } from './workspace-server.ts'

const STARTS = 20
const BUDGET = { at: 'most', ratio: 1.6 } as const

/** From the request to start until the agent is ready, and the bare engine to a prompt, in turns. */
export async function workspaceStarts(): Promise<Figure[]> {
  const engine = await new BareEngine().ready()
  const server = await startWorkspaceServer()
  const id = await server.create('bench')
  const ours: number[] = []
  const bare: number[] = []
  for (let n = -2; n < STARTS; n++) {
    const shell = await engine.startShell(IMAGE)
    await engine.remove(shell.id)
    const startedMs = performance.now()
    await server.start(id)
    const took = performance.now() - startedMs
    await server.stop(id)
    if (n < 0) continue // the first ones warm up
    ours.push(took)
    bare.push(shell.took)
  }
  await server.end()
  await engine.stop()
  return [0.5, 0.95].map((share) => ({
    work: `start of a workspace until its agent is ready, p${share * 100} of ${STARTS}`,
    measured: `${percentile(ours, share).toFixed(0)} ms`,
    baseline: `bare engine: create, start, prompt: ${percentile(bare, share).toFixed(0)} ms`,
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
    const shells = await Promise.all(ids.map(() => engine.startShell(IMAGE)))
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
