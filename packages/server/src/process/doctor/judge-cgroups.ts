import { error, type Finding, ok, warning } from './check.ts'

const NEEDED = ['cpu', 'memory', 'pids']

export interface CgroupFacts {
  /** `/proc/self/mounts`. */
  readonly mounts: string
  /** `/sys/fs/cgroup/cgroup.controllers`; empty where version 2 is not the only one. */
  readonly controllers: string
  readonly hasRunc: boolean
}

/** Whether limits of processor, memory and processes can be kept. */
export function judgeCgroups({ mounts, controllers, hasRunc }: CgroupFacts): Finding {
  const rows = mounts.split('\n').map((line) => line.split(' '))
  const old = rows.filter(([, , type]) => type === 'cgroup')
  const hasNew = rows.some(([, , type]) => type === 'cgroup2')
  if (old.length === 0 && !hasNew) {
    return error('control groups are not mounted, so nothing can be limited', 'Mount cgroup2 on /sys/fs/cgroup.')
  }
  const present =
    old.length === 0 ? controllers.trim().split(/\s+/) : old.flatMap(([, , , options]) => options?.split(',') ?? [])
  const missing = NEEDED.filter((name) => !present.includes(name))
  if (missing.length > 0) {
    return warning(
      `control groups have no ${missing.join(', ')}: that is not limited in workspaces`,
      'Switch the controllers on: systemd needs Delegate=yes for the unit, an old kernel cgroup_enable=memory at boot.',
    )
  }
  if (old.length === 0) return ok('version 2, with cpu, memory and pids')
  if (!hasNew) return ok('version 1, with cpu, memory and pids')
  return warning(
    'versions 1 and 2 are mixed: the runtime crun refuses that',
    hasRunc ? 'Nothing to do: runc is there, and is used instead.' : 'Install runc: apt-get install runc',
  )
}
