import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** Which process, beyond its number: numbers are used again, also after a start of the machine. */
export const ProcessIdentity = z.object({
  pid: z.int().positive(),
  /** In clock ticks since the machine started. */
  startTicks: z.string(),
  bootId: z.string(),
})
export type ProcessIdentity = z.infer<typeof ProcessIdentity>

/** Undefined when there is no such process. One that has ended and only waits to be noticed is none. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readStat(pid)
  if (!stat || stat.state === 'Z' || stat.state === 'X') return undefined
  return { pid, startTicks: stat.startTicks, bootId: await bootId() }
}

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await identifyProcess(identity.pid)
  return now !== undefined && now.startTicks === identity.startTicks && now.bootId === identity.bootId
}

export interface ProcessStat {
  readonly pid: number
  readonly state: string
  readonly parentPid: number
  readonly startTicks: string
}

/** Of `/proc/<pid>/stat`. Undefined when there is no such process. */
export async function readStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name in the second field may hold anything, `)` and spaces included; what follows the last one is regular.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent] = fields ?? []
  const startTicks = fields?.[19]
  if (state === undefined || parent === undefined || startTicks === undefined) return undefined
  return { pid, state, parentPid: Number(parent), startTicks }
}

async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}
