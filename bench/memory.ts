import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Figure } from './figure.ts'
import { runWorkspace } from './run-workspace.ts'

const BUDGET_MB = 130
const AGENT_BUDGET_MB = 70
const SETTLE_MS = 2000

/** What the real daemon holds when nobody uses it. Started twice: the first start fills the cache of compiled code. */
export async function idleMemory(): Promise<Figure> {
  await residentMb()
  const mb = await residentMb()
  return {
    work: 'idle server, resident memory, second start',
    measured: `${mb.toFixed(0)} MB`,
    baseline: `budget of ${BUDGET_MB} MB`,
    ratio: mb / BUDGET_MB,
    budget: { at: 'most', ratio: 1 },
  }
}

async function residentMb(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const env = {
    ...process.env,
    SVCD_STATE_DIR: join(folder, 'state'),
    SVCD_DATA_DIR: join(folder, 'data'),
    SVCD_CONFIG_DIR: join(folder, 'config'),
  }
  const server = spawn(join(import.meta.dirname, '../bin/svcd'), { env, stdio: ['ignore', 'ignore', 'pipe'] })
  for await (const chunk of server.stderr) if (String(chunk).includes('listening')) break
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const mb = megabytesIn(readFileSync(`/proc/${server.pid}/status`, 'utf8'))
  server.kill('SIGTERM')
  await once(server, 'exit')
  rmSync(folder, { recursive: true })
  return mb
}

/** What the agent of a workspace holds with one terminal open. */
export async function agentMemory(): Promise<Figure> {
  const { agent, end } = await runWorkspace()
  await agent.terminals.open({ id: 'one', cols: 120, rows: 40, env: {}, cwd: '/', label: '' })
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  // Asked in the workspace itself: there it is the one process of that name.
  const ask = agent.exec({ argv: ['bash', '-c', READ_STATUS], login: false, cwd: '/', env: {} })
  const mb = megabytesIn(await text(ask.stdout))
  await end()
  return {
    work: 'agent of a workspace with one terminal, resident memory',
    measured: `${mb.toFixed(0)} MB`,
    baseline: `budget of ${AGENT_BUDGET_MB} MB`,
    ratio: mb / AGENT_BUDGET_MB,
    budget: { at: 'most', ratio: 1 },
  }
}

const READ_STATUS = "cat /proc/$(pgrep -xf '/opt/svc/node /opt/svc/agent.mjs')/status"

const megabytesIn = (status: string): number => (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6
