import { userInfo } from 'node:os'
import { readText } from '../../kernel/read-text.ts'
import type { Check, DoctorContext, Finding } from './check.ts'
import { findProgram } from './find-program.ts'
import { judgeCgroups } from './judge-cgroups.ts'
import { judgeInotify, judgeLimits, judgeUserNamespaces } from './judge-kernel.ts'

export const kernelChecks: readonly Check[] = [
  { name: 'control groups', run: checkCgroups },
  { name: 'user namespaces', run: checkUserNamespaces },
  { name: 'process limits', run: async () => judgeLimits(await readText('/proc/self/limits')) },
  { name: 'file watches', run: checkInotify },
]

async function checkCgroups(): Promise<Finding> {
  return judgeCgroups({
    mounts: await readText('/proc/self/mounts'),
    controllers: await readText('/sys/fs/cgroup/cgroup.controllers'),
    hasRunc: (await findProgram('runc')) !== undefined,
  })
}

async function checkUserNamespaces({ isRoot }: DoctorContext): Promise<Finding> {
  return judgeUserNamespaces({
    isRoot,
    user: userInfo().username,
    most: numberIn(await readText('/proc/sys/user/max_user_namespaces')),
    isClosedToUsers: (await readText('/proc/sys/kernel/unprivileged_userns_clone')).trim() === '0',
    subuid: await readText('/etc/subuid'),
    subgid: await readText('/etc/subgid'),
    hasNewuidmap: (await findProgram('newuidmap')) !== undefined,
  })
}

async function checkInotify(): Promise<Finding> {
  return judgeInotify({
    watches: numberIn(await readText('/proc/sys/fs/inotify/max_user_watches')),
    instances: numberIn(await readText('/proc/sys/fs/inotify/max_user_instances')),
  })
}

/** Empty when there is no such file: then the kernel does not have that limit. */

const numberIn = (text: string): number | undefined => (/^\d+\s*$/.test(text) ? Number(text) : undefined)
