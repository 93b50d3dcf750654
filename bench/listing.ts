import { BareEngine } from './bare-engine.ts'
import type { Figure } from './figure.ts'
import { runWorkspace } from './run-workspace.ts'
import { percentile } from './statistics.ts'

const FILES = 1000
const ROUNDS = 20
/** The engine still clears up after its exec when the answer is there; that is not for the next round to pay. */
const SETTLE_MS = 150
const FOLDER = '/home/svc/listed'

/** A directory of a running workspace through its agent, and `ls -la` of it through the engine's exec, in turns. */
export async function listing(): Promise<Figure> {
  const { id, agent, end } = await runWorkspace()
  const bare = await new BareEngine().ready()
  const script = `mkdir ${FOLDER} && cd ${FOLDER} && touch file-{1..${FILES}}`
  await agent.exec({ argv: ['bash', '-c', script], login: false, cwd: '/', env: {} }).exited

  const ours: number[] = []
  const theirs: number[] = []
  for (let round = -2; round < ROUNDS; round++) {
    const ourMs = await took(async () => (await agent.files.list(FOLDER)).length)
    const theirMs = await took(async () => (await bare.exec(id, ['ls', '-la', FOLDER])).split('\n').length)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    if (round < 0) continue // the first ones warm up
    ours.push(ourMs)
    theirs.push(theirMs)
  }
  await bare.stop()
  await end()
  return {
    work: `listing of ${FILES} files in a workspace, p50 of ${ROUNDS}`,
    measured: `${percentile(ours, 0.5).toFixed(1)} ms`,
    baseline: `ls -la through the engine's exec: ${percentile(theirs, 0.5).toFixed(0)} ms`,
    ratio: percentile(ours, 0.5) / percentile(theirs, 0.5),
    budget: { at: 'most', ratio: 0.1 },
  }
}

async function took(list: () => Promise<number>): Promise<number> {
  const startedMs = performance.now()
  const count = await list()
  const ms = performance.now() - startedMs
  if (count < FILES) throw new Error(`only ${count} of ${FILES} files were listed`)
  return ms
}
