import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './figure.ts'

const BUDGET_MB = 130
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
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1])
  server.kill('SIGTERM')
  await once(server, 'exit')
  rmSync(folder, { recursive: true })
  return (kilobytes * 1024) / 1e6
}
