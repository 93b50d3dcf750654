import { constants } from 'node:os'

/** How long a process may take to end after it was asked to. */
const GRACE_MS = 2000

/** False when there is no process left in the group. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal)
    return true
  } catch {
    return false
  }
}

/** Asks all processes of a group to end, and ends by force what is left after a while. */
export function endGroup(groupId: number, first: NodeJS.Signals): void {
  if (!signalGroup(groupId, first)) return
  const timer = setTimeout(() => signalGroup(groupId, 'SIGKILL'), GRACE_MS)
  // The agent does not stay for this when it is told to end.
  timer.unref()
}

export function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name)
}

/** An exit as a shell tells it: 128 and the signal's number when one ended the process. */
export function exitStatus(
  code: number | null,
  signal: NodeJS.Signals | null,
): { code: number; signal: string | null } {
  return signal === null ? { code: code ?? 1, signal } : { code: 128 + constants.signals[signal], signal }
}
