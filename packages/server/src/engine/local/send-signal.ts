import { errorCode } from '../../kernel/error-code.ts'

/** To a process that may have ended by itself meanwhile. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}
