import { statSync } from 'node:fs'

export type Variables = Readonly<Record<string, string>>

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Set by engines for the agent as root, and wrong for the user. */
const NOT_FOR_CHILDREN = [
  'HOME',
  'SHELL',
  'PWD',
  'OLDPWD',
  'TERM',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
  'LD_LIBRARY_PATH',
]

/** What every process in the workspace gets: the container's own variables, ours, and those of `setup`; later ones win. */
export function workspaceEnvironment(parts: {
  readonly container: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly shell: string
  readonly setup: Variables
}): Variables {
  const { container, home, shell, setup } = parts
  const kept = Object.entries(container).flatMap(([name, value]) =>
    value === undefined || NOT_FOR_CHILDREN.includes(name) ? [] : [[name, value] as const],
  )
  return {
    PATH: DEFAULT_PATH,
    LANG: 'C.UTF-8',
    USER: 'svc',
    LOGNAME: 'svc',
    ...Object.fromEntries(kept),
    HOME: home,
    SHELL: shell,
    ...setup,
  }
}

/** The directory asked for, when there is such a one; else the home, else the root. */
export function existingDirectory(wanted: string, env: Variables): string {
  return [wanted, env.HOME].find((path) => path?.startsWith('/') && isDirectory(path)) ?? '/'
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
