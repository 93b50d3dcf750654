import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import type { Check, DoctorContext, Finding } from './check.ts'
import { findProgram } from './find-program.ts'
import { judgeCgroups } from './judge-cgroups.ts'
import { judgeInotify, judgeLimits, judgeUserNamespaces } from './judge-kernel.ts'

export const kernelChecks: readonly Check[] = [
  { name: 'control groups', run: checkCgroups },
  { name: 'user namespaces', run: checkUserNamespaces },
  { name: 'process limits', run: async () => judgeLimits(await textOf('/proc/self/limits')) },
  { name: 'file watches', run: checkInotify },
]

async function checkCgroups(): Promise<Finding> {
  return judgeCgroups({
    mounts: await textOf('/proc/self/mounts'),
    controllers: await textOf('/sys/fs/cgroup/cgroup.controllers'),
    hasRunc: (await findProgram('runc')) !== undefined,
  })
}

async function checkUserNamespaces({ isRoot }: DoctorContext): Promise<Finding> {
  return judgeUserNamespaces({
    isRoot,
    user: userInfo().username,
    most: numberIn(await textOf('/proc/sys/user/max_user_namespaces')),
    isClosedToUsers: (await textOf('/proc/sys/kernel/unprivileged_userns_clone')).trim() === '0',
    subuid: await textOf('/etc/subuid'),
    subgid: await textOf('/etc/subgid'),
    hasNewuidmap: (await findProgram('newuidmap')) !== undefined,
  })
}

async function checkInotify(): Promise<Finding> {
  return judgeInotify({
    watches: numberIn(await textOf('/proc/sys/fs/inotify/max_user_watches')),
    instances: numberIn(await textOf('/proc/sys/fs/inotify/max_user_instances')),
  })
}

/** Empty when there is no such file: then the kernel does not have that limit. */
const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

const numberIn = (text: string): number | undefined => (/^\d+\s*$/.test(text) ? Number(text) : undefined)
