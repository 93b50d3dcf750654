import { loadNativePty } from './native-pty.ts'

/** Late enough not to be in the way of the first requests. */
const DELAY_MS = 500

/**
 * Loads what the first terminal needs before it is asked for. Not only for speed: the files of a running agent are gone
 * once a newer one was built in their place.
 */
export function preloadTerminals(): void {
  setTimeout(() => {
    loadNativePty()
    void import('./emulator.ts')
  }, DELAY_MS).unref()
}
