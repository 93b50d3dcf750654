import type { ContainerLimits } from '../container-engine.ts'

const SYSTEM_BYTES = 256 * 1024 ** 2

export interface TmpfsMount {
  readonly target: string
  readonly options: readonly string[]
}

/** What is gone with the container. Programs may be run from `/tmp`, as build tools do, and from nowhere else. */
export function tmpfsMounts({ tmpBytes }: ContainerLimits): TmpfsMount[] {
  const system = ['rw', 'noexec', 'nosuid', 'nodev', 'mode=0755', `size=${SYSTEM_BYTES}`]
  const size = tmpBytes === undefined ? [] : [`size=${tmpBytes}`]
  return [
    { target: '/tmp', options: ['rw', 'exec', 'nosuid', 'nodev', 'mode=1777', ...size] },
    { target: '/run', options: system },
    { target: '/var/log', options: system },
  ]
}
