import type { EngineFlavour } from './engine-flavour.ts'

/** Old and new control groups side by side: there crun refuses to make a container, and runc does not mind. */
export function hasMixedCgroups(mounts: string): boolean {
  const types = new Set(mounts.split('\n').map((line) => line.split(' ')[2]))
  return types.has('cgroup') && types.has('cgroup2')
}

/** The runtime to ask for by name; undefined when the engine's own choice works. Cheaper than to run a container. */
export function chooseRuntime({ info }: EngineFlavour, mounts: string): string | undefined {
  const isRefused = info.DefaultRuntime === 'crun' && hasMixedCgroups(mounts)
  return isRefused && info.Runtimes && 'runc' in info.Runtimes ? 'runc' : undefined
}
