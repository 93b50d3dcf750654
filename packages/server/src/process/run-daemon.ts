import type { LoadedSettings } from '../config/load-settings.ts'
import { systemClock } from '../kernel/clock.ts'
import { exitCodes } from './exit-codes.ts'
import { serve } from './serve.ts'
import type { Signals } from './signals.ts'

/** How long a forced end may still take for its audit row. */
const FORCED_END_MS = 500

/** Runs the server until a signal or a fault ends it; answers the exit code. */
export async function runDaemon(
  load: () => Promise<LoadedSettings>,
  signals: Signals,
  ready: (url: string) => void,
): Promise<number> {
  let served: Awaited<ReturnType<typeof serve>>
  try {
    served = await serve(load, signals.ending)
  } catch (error) {
    if (signals.ending.aborted) return exitCodes.stopped
    throw error
  }
  const { daemon, logging } = served
  const log = logging.root
  return new Promise((resolve) => {
    const fail = (error: unknown) => {
      log.critical('an uncaught fault ends the process', { error })
      logging.flushSync()
      resolve(exitCodes.fault)
    }
    /** Notes the end in the audit trail if that takes no time, and ends. */
    const force = () => {
      const end = () => {
        logging.flushSync()
        resolve(exitCodes.conflict)
      }
      systemClock.after(FORCED_END_MS, end)
      void daemon.noteEnd('forced-exit').then(end)
    }
    let stopping = false
    const stop = (signal: 'SIGTERM' | 'SIGINT') => {
      if (stopping) {
        log.warning(`a second ${signal} forces the end`)
        return force()
      }
      stopping = true
      daemon.stop(`signal:${signal}`).then(() => resolve(exitCodes.stopped), fail)
    }
    process.on('uncaughtException', fail).on('unhandledRejection', fail)
    void daemon.lost.then(fail)
    signals.handle((signal) => {
      if (signal !== 'SIGHUP') stop(signal)
      else if (!stopping) daemon.reload().catch(fail)
    })
    if (daemon.url && !stopping) ready(daemon.url)
  })
}
