import { reportFault } from '../report-fault.ts'
import { loadNativePty } from './native-pty.ts'

/** Late enough not to be in the way of the first requests. */
const DELAY_MS = 500

/**
 * Loads what the first terminal needs before it is asked for. Not only for speed: the files of a running agent are gone
 * once a newer one was built in their place. Without them everything else still works.
 */
export function preloadTerminals(): void {
  setTimeout(() => void load().catch(reportFault), DELAY_MS).unref()
}

async function load(): Promise<void> {
  loadNativePty()
  await import('./emulator.ts')
}
