import { readdir } from 'node:fs/promises'
import type { Clock } from '../../kernel/clock.ts'
import { pause } from '../../kernel/pause.ts'
import { isAlive, type ProcessIdentity, readStat } from './process-identity.ts'
import type { ProcessRecord } from './process-record.ts'
import { sendSignal } from './send-signal.ts'

const FIRST_LOOK_MS = 5
const SLOWEST_LOOK_MS = 200

/** Asks the agent to end, and ends all processes of its workspace when it has not within the grace. */
export async function endProcesses(record: ProcessRecord, graceSeconds: number, clock: Clock): Promise<void> {
  if (await isAlive(record.main)) {
    for (const pid of await agentPids(record)) sendSignal(pid, 'SIGTERM')
    await untilEnded(record.main, graceSeconds * 1000, clock)
  }
  // The end of the first process of the namespace is the end of all in it. It goes first: it may have lost its parent.
  for (const identity of [record.init, record.main]) {
    if (!identity || !(await isAlive(identity))) continue
    sendSignal(identity.pid, 'SIGKILL')
    await untilEnded(identity, Number.POSITIVE_INFINITY, clock)
  }
}

/** The first process only reaps: the agent is a child of it. */
async function agentPids({ init }: ProcessRecord): Promise<number[]> {
  if (!init || !(await isAlive(init))) return []
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const stats = await Promise.all(pids.map(readStat))
  return stats.flatMap((stat) => (stat?.parentPid === init.pid ? [stat.pid] : []))
}

async function untilEnded(identity: ProcessIdentity, limitMs: number, clock: Clock): Promise<void> {
  const giveUpMs = clock.nowMs() + limitMs
  for (let waitMs = FIRST_LOOK_MS; await isAlive(identity); waitMs = Math.min(waitMs * 2, SLOWEST_LOOK_MS)) {
    if (clock.nowMs() >= giveUpMs) return
    await pause(clock, Math.min(waitMs, giveUpMs - clock.nowMs()))
  }
}
