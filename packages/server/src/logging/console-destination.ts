import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { type Destination, writeInPool } from './destination.ts'

const STDERR = 2

/**
 * Stderr. A pipe, socket or terminal is written without blocking, never through the thread pool: a thread waiting
 * for a reader that has gone to sleep cannot be called back, and the process could not even exit.
 */
export function consoleDestination(fd: number): Destination {
  if (fstatSync(fd).isFile()) {
    return {
      writeSync: (bytes) => writeSync(fd, bytes),
      write: (bytes) => writeInPool(fd, bytes),
      close: () => {},
    }
  }
  const own = openNonBlocking(fd)
  return {
    writeSync: (bytes) => writeSync(own ?? fd, bytes),
    close: () => {
      if (own !== undefined) closeSync(own)
    },
  }
}

/**
 * "Non-blocking" belongs to the open file, which we share with the shell and with our children: opening it again
 * gives us one of our own.
 */
function openNonBlocking(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // A socket (the journal), another user's pipe, or no /proc. Node makes the shared one non-blocking when
    // `process.stderr` is first used, and restores it at exit.
    if (fd === STDERR) void process.stderr
    return undefined
  }
}
