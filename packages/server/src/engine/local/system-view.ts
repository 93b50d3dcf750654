import { lstat, readlink } from 'node:fs/promises'
import { WORKSPACE_ID } from './sandbox.ts'

/** The system's programs and settings. Everything else of the host stays out of sight. */
const SYSTEM_ROOTS = ['/usr', '/etc'] as const
/** Links into `/usr` on most systems, directories on some. */
const SYSTEM_NAMES = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix'] as const

/** Gives root up for good, for the workspace's user. */
export const DROP_ROOT: readonly string[] = [
  'setpriv',
  `--reuid=${WORKSPACE_ID}`,
  `--regid=${WORKSPACE_ID}`,
  '--clear-groups',
  '--no-new-privs',
  '--inh-caps=-all',
  '--bounding-set=-all',
]

export type SystemEntry =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }

/** What every workspace sees of the host, as it is there. */
export async function systemEntries(): Promise<SystemEntry[]> {
  const roots = SYSTEM_ROOTS.map((path): SystemEntry => ({ kind: 'directory', path }))
  const names = await Promise.all(SYSTEM_NAMES.map(asOnHost))
  return [...roots, ...names.flat()]
}

async function asOnHost(path: string): Promise<SystemEntry[]> {
  const stats = await lstat(path).catch(() => undefined)
  if (!stats) return []
  return stats.isSymbolicLink() ? [{ kind: 'link', path, target: await readlink(path) }] : [{ kind: 'directory', path }]
}

export const isInSystem = (path: string): boolean => SYSTEM_ROOTS.some((root) => path.startsWith(`${root}/`))

/** Directories that have to be made for these, from the top down, and open to the user. */
export function parentsOf(mounts: readonly { readonly target: string }[]): string[] {
  const parents = new Set<string>()
  for (const { target } of mounts) {
    const parts = target.split('/')
    for (let end = 2; end < parts.length; end++) parents.add(parts.slice(0, end).join('/'))
  }
  return [...parents].filter((path) => !isInSystem(`${path}/`) && path !== '/home' && !path.startsWith('/home/'))
}
