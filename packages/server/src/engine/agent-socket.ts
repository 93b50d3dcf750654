import { constants, open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { isForbidden, isNotUp } from './connection-fault.ts'
import { O_PATH } from './open-flags.ts'

const SOCKET_NAME = 'agent.sock'

/**
 * A connection to the agent whose socket is in `directory`; undefined while none listens. The directory belongs to the
 * workspace, which may put anything there: so the file is held first and then looked at, and a link to another
 * workspace's socket leads nowhere. Being reached through its handle, its path may be of any length.
 */
export async function connectToAgent(directory: string): Promise<Socket | undefined> {
  try {
    await using file = await open(join(directory, SOCKET_NAME), O_PATH | constants.O_NOFOLLOW)
    if (!(await file.stat()).isSocket()) return undefined
    return await connected(`/proc/self/fd/${file.fd}`)
  } catch (error) {
    // Without root on the host, the socket is ours only once the agent has given it to us.
    if (isNotUp(error) || isForbidden(error)) return undefined
    throw error
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
