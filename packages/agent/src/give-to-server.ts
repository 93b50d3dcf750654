import { lchownSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reportFault } from './report-fault.ts'

const SAME_GROUP = -1

/** A server that is not root on the host owns the directory of the socket, and can use only a socket that it owns too. */
export function giveToServer(socket: string): void {
  if (process.getuid?.() !== 0) return
  try {
    const { uid } = statSync(dirname(socket))
    if (uid !== 0) lchownSync(socket, uid, SAME_GROUP)
  } catch (error) {
    // An owner who does not exist in here: root outside, who needs no more.
    reportFault(error)
  }
}
