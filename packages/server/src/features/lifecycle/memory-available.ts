import { join } from 'node:path'
import { readText } from '../../kernel/read-text.ts'

export interface AvailableMemory {
  readonly bytes: number
  /** Of what there is in all, from 0 to 1. */
  readonly fraction: number
}

/**
 * What could be used without swapping: of the machine, and of the control group the server runs in when that has a
 * limit; the scarcer of the two. Undefined where the kernel does not say.
 */
export async function availableMemory(root = '/'): Promise<AvailableMemory | undefined> {
  const [machine, group] = await Promise.all([ofMachine(root), ofControlGroup(root)])
  if (!machine || !group) return machine ?? group
  return group.fraction < machine.fraction ? group : machine
}

async function ofMachine(root: string): Promise<AvailableMemory | undefined> {
  const text = await readText(join(root, 'proc/meminfo'))
  const bytes = (field: string) => 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1])
  return share(bytes('MemAvailable'), bytes('MemTotal'))
}

/** Version 2 of control groups first, then version 1. */
async function ofControlGroup(root: string): Promise<AvailableMemory | undefined> {
  const base = join(root, 'sys/fs/cgroup')
  const groups = [
    { path: base, limit: 'memory.max', used: 'memory.current', field: 'inactive_file' },
    {
      path: join(base, 'memory'),
      limit: 'memory.limit_in_bytes',
      used: 'memory.usage_in_bytes',
      field: 'total_inactive_file',
    },
  ]
  const membership = await readText(join(root, 'proc/self/cgroup'))
  for (const { path, limit, used, field } of groups) {
    const own =
      limit === 'memory.max' ? /^0::(.+)$/m.exec(membership) : /^\d+:(?:.*,)?memory(?:,.*)?:(.+)$/m.exec(membership)
    // In a container of its own the group's files are at the top, whatever the path says.
    for (const folder of own?.[1] ? [join(path, own[1]), path] : [path]) {
      const [limitText, usedText, stat] = await Promise.all([
        readText(join(folder, limit)),
        readText(join(folder, used)),
        readText(join(folder, 'memory.stat')),
      ])
      const inactive = Number(new RegExp(`^${field} (\\d+)`, 'm').exec(stat)?.[1] ?? 0)
      const total = number(limitText)
      const found = share(total - (number(usedText) - inactive), total)
      if (found) return found
    }
  }
  return undefined
}

/** What version 1 writes when there is no limit: more than any machine has. */
const NO_LIMIT_BYTES = 2 ** 60

function share(available: number, total: number): AvailableMemory | undefined {
  if (!Number.isFinite(available) || !Number.isFinite(total) || total <= 0 || total >= NO_LIMIT_BYTES) return undefined
  const bytes = Math.min(Math.max(available, 0), total)
  return { bytes, fraction: bytes / total }
}

const number = (text: string): number => (/^\d+\s*$/.test(text) ? Number(text) : Number.NaN)
