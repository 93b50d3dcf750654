import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { errorCode } from '../host-homes/error-code.ts'

/** The longest path of a socket that the system takes, its final NUL included. */
const MAX_SOCKET_PATH_BYTES = 108

/** Undefined when nobody listens there, yet or any more. Rejects for every other fault. */
export async function openAgentSocket(directory: string, name: string): Promise<Socket | undefined> {
  const path = `${directory}/${name}`
  if (Buffer.byteLength(path) < MAX_SOCKET_PATH_BYTES) return openSocket(path)
  // Through a handle the path is short, wherever the directory is.
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return await openSocket(`/proc/self/fd/${handle.fd}/${name}`)
  } finally {
    await handle.close()
  }
}

function openSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path })
    socket.once('error', (error) => {
      if (['ENOENT', 'ECONNREFUSED'].includes(errorCode(error) ?? '')) resolve(undefined)
      else reject(error)
    })
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}
