import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { BareEngine } from './bare-engine.ts'
import { ClientProcess } from './client-process.ts'
import type { Figure } from './figure.ts'
import { FLOOD_FILE, MAKE_FLOOD } from './flood-text.ts'
import { typeKeys } from './keystrokes.ts'
import { runWorkspace } from './run-workspace.ts'
import { percentile } from './statistics.ts'
import { startWorkspaceServer, type WorkspaceServer } from './workspace-server.ts'

const FLOODS = 3
const FLOOD_BUDGET = { at: 'least', ratio: 1.5 } as const
const KEYS = 1000
/** A person can have 64 windows in a workspace. */
const WORKSPACES = 4
const WINDOWS_EACH = 50
const OTHERS = WORKSPACES * WINDOWS_EACH
const MEMORY_BUDGET_KB = 300
/** Until what the start left behind is collected. */
const REST_MS = 10_000
/** Milliseconds that the way through the server may add. */
const ECHO_BUDGET = [
  { share: 0.5, addedMs: 1 },
  { share: 0.99, addedMs: 5 },
] as const

/** 100 MB printed in a terminal to one client who checks every byte, and the engine's own exec, in turns. */
export async function terminalFlood(): Promise<Figure> {
  const engine = await new BareEngine().ready()
  const server = await startWorkspaceServer()
  const door = await openWorkspace(server, 'flood')
  const container = await server.containerOf(door.workspaceId)
  await engine.exec(container, ['bash', '-c', MAKE_FLOOD])
  const client = new ClientProcess()
  await client.ask({ work: 'open', door, count: 1 })
  const speeds = { own: [] as number[], exec: [] as number[], plainExec: [] as number[] }
  const measure = async (hasTerminal: boolean) => {
    const { bytes, ms } = await engine.measure(container, ['cat', FLOOD_FILE], { hasTerminal })
    return bytes / 1000 / ms
  }
  for (let n = 0; n < FLOODS; n++) {
    speeds.exec.push(await measure(true))
    speeds.own.push(...(await client.ask({ work: 'flood' })))
    speeds.plainExec.push(await measure(false))
  }
  await client.end()
  await server.stop(door.workspaceId)
  await server.end()
  await engine.stop()
  const [own, exec, plainExec] = [speeds.own, speeds.exec, speeds.plainExec].map((each) => percentile(each, 0.5))
  return {
    work: 'flood of 100 MB in a terminal to one client, every byte checked',
    measured: `${own?.toFixed(0)} MB/s`,
    baseline: `exec of the engine with a terminal: ${exec?.toFixed(0)} MB/s (without one: ${plainExec?.toFixed(0)})`,
    ratio: (own ?? 0) / (exec ?? 1),
    budget: FLOOD_BUDGET,
  }
}

/** Keys echoed by a terminal through the server, and by one whose agent is spoken to directly. */
export async function keystrokeEcho(): Promise<Figure[]> {
  const raw = await rawEcho()
  const server = await startWorkspaceServer()
  const typist = new ClientProcess()
  const doors = []
  for (let n = 0; n < WORKSPACES; n++) doors.push(await openWorkspace(server, `echo-${n}`))
  const [door] = doors
  if (!door) throw new Error('there is no workspace')
  await typist.ask({ work: 'open', door, count: 1 })
  const alone = await typist.ask({ work: 'type' })
  const before = await restingKilobytes(server)
  const crowd = new ClientProcess()
  for (const each of doors) await crowd.ask({ work: 'open', door: each, count: WINDOWS_EACH })
  const after = await restingKilobytes(server)
  const beside = await typist.ask({ work: 'type' })
  await crowd.end()
  await typist.end()
  for (const { workspaceId } of doors) await server.stop(workspaceId)
  await server.end()
  return [
    ...echoFigures('alone', alone, raw),
    ...echoFigures(`beside ${OTHERS} other terminals`, beside, raw),
    {
      work: 'memory of the server for each attached terminal',
      measured: `${((after - before) / OTHERS).toFixed(0)} KB`,
      baseline: `budget of ${MEMORY_BUDGET_KB} KB`,
      ratio: (after - before) / OTHERS / MEMORY_BUDGET_KB,
      budget: { at: 'most', ratio: 1 },
    },
  ]
}

function echoFigures(where: string, times: readonly number[], raw: readonly number[]): Figure[] {
  return ECHO_BUDGET.map(({ share, addedMs }) => {
    const [own, base] = [percentile(times, share), percentile(raw, share)]
    return {
      work: `echo of a key through the server ${where}, p${share * 100} of ${times.length}`,
      measured: `${own.toFixed(2)} ms`,
      baseline: `without the server: ${base.toFixed(2)} ms; may add ${addedMs} ms`,
      ratio: (own - base) / addedMs,
      budget: { at: 'most', ratio: 1 },
    }
  })
}

async function rawEcho(): Promise<number[]> {
  const { agent, end } = await runWorkspace()
  await agent.terminals.open({ id: 'one', cols: 120, rows: 40, env: {}, cwd: '/', label: '' })
  let seen = ''
  let hear = () => {}
  const terminal = agent.terminals.attach(
    { id: 'one', lossy: false },
    {
      output: (bytes) => {
        seen = seen.slice(-1000) + Buffer.from(bytes).toString('latin1')
        terminal.consumed(bytes.length)
        hear()
      },
      exited: () => {},
      lost: () => {},
    },
  )
  await terminal.attached
  await terminal.write(Buffer.from('stty -echo; PS1=; echo re""ady; stty echo; cat\r'))
  while (!seen.includes('ready\r\n')) await delay(10)
  const keyboard = {
    type: (key: string) => void terminal.write(Buffer.from(key)),
    echoed: () => new Promise<void>((resolve) => (hear = resolve)),
  }
  const times = await typeKeys(keyboard, KEYS)
  await end()
  return times
}

async function openWorkspace(server: WorkspaceServer, name: string) {
  const workspaceId = await server.create(name)
  await server.start(workspaceId)
  return { api: server.api, token: server.token, workspaceId }
}

async function restingKilobytes({ pid }: WorkspaceServer): Promise<number> {
  await delay(REST_MS)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1000
}
