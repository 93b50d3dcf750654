import { error, type Finding, ok, warning } from './check.ts'

/** What one container's user namespace takes. */
const MAP_SIZE = 65_536

export interface UserNamespaceFacts {
  readonly isRoot: boolean
  readonly user: string
  /** Undefined when the kernel does not say. */
  readonly most: number | undefined
  readonly isClosedToUsers: boolean
  readonly subuid: string
  readonly subgid: string
  readonly hasNewuidmap: boolean
}

export function judgeUserNamespaces(facts: UserNamespaceFacts): Finding {
  const { isRoot, user, most, isClosedToUsers, hasNewuidmap } = facts
  if (most === undefined) return error('the kernel has no user namespaces', 'Use a kernel with CONFIG_USER_NS.')
  if (most < 100) {
    return error(`only ${most} user namespaces are allowed`, 'Allow more: sysctl -w user.max_user_namespaces=15000')
  }
  if (isRoot) return ok(`up to ${most} are allowed`)
  if (isClosedToUsers) {
    return error('only root may make them', 'Allow it: sysctl -w kernel.unprivileged_userns_clone=1')
  }
  if (!hasNewuidmap) return error('newuidmap is missing', 'Install it: apt-get install uidmap')
  const without = (['subuid', 'subgid'] as const).filter((name) => !hasRange(facts[name], user))
  if (without.length > 0) {
    return error(
      `${user} has no range of ${MAP_SIZE} ids in ${without.map((name) => `/etc/${name}`).join(' and ')}`,
      `Give it one: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${user}`,
    )
  }
  return ok(`up to ${most} are allowed, and ${user} has ids for them`)
}

function hasRange(text: string, user: string): boolean {
  return text.split('\n').some((line) => {
    const [name, , count] = line.split(':')
    return name === user && Number(count) >= MAP_SIZE
  })
}

/** Below these, busy workspaces run into the limit. */
const ENOUGH_FILES = 4096
const ENOUGH_PROCESSES = 4096

/** `text` is `/proc/self/limits`: what the server may raise itself to. */
export function judgeLimits(text: string): Finding {
  const files = hardLimit(text, 'Max open files')
  const processes = hardLimit(text, 'Max processes')
  const low = [
    ...(files < ENOUGH_FILES ? [`open files (${files})`] : []),
    ...(processes < ENOUGH_PROCESSES ? [`processes (${processes})`] : []),
  ]
  if (low.length > 0) {
    const hint = 'Raise LimitNOFILE and LimitNPROC of the service, or the hard limits in /etc/security/limits.conf.'
    return warning(`the hard limit is low for ${low.join(' and ')}`, hint)
  }
  return ok(`${shown(files)} open files, ${shown(processes)} processes`)
}

function hardLimit(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(name))
  const hard = line?.slice(name.length).trim().split(/\s+/)[1]
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}

const shown = (limit: number): string => (Number.isFinite(limit) ? `${limit}` : 'unlimited')

const ENOUGH_WATCHES = 65_536
const ENOUGH_INSTANCES = 128

/** All workspaces of one host user share these; editors and build tools use many. */
export function judgeInotify(facts: { watches: number | undefined; instances: number | undefined }): Finding {
  const { watches = 0, instances = 0 } = facts
  if (watches >= ENOUGH_WATCHES && instances >= ENOUGH_INSTANCES)
    return ok(`${watches} watches, ${instances} instances`)
  return warning(
    `only ${watches} watches and ${instances} instances: programs that follow many files fail`,
    'Allow more: sysctl -w fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024',
  )
}
