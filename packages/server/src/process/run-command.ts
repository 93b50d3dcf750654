import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { NO_CONFIG_FILE } from '../config/config-file.ts'
import { processEnvironment } from '../config/environment.ts'
import { loadSettings } from '../config/load-settings.ts'
import { printSettings } from '../config/print-settings.ts'
import { type Command, parseCommand, UsageError } from './command-line.ts'
import { exitCodes, startFailure } from './exit-codes.ts'
import { HELP } from './help.ts'
import { backupStorage } from './open-storage.ts'
import { runDaemon } from './run-daemon.ts'
import type { Signals } from './signals.ts'

const say = (text: string): void => void process.stdout.write(text)
const complain = (text: string): void => void process.stderr.write(`svcd: ${text}\n`)
const warn = (warnings: readonly string[]): void => {
  for (const warning of warnings) complain(`warning: ${warning}`)
}

/** Does what the command line asks; answers the exit code. */
export async function runCommand(argv: readonly string[], signals: Signals): Promise<number> {
  // A reader of our output that went away is no reason to end a server.
  process.stdout.on('error', () => undefined)
  try {
    return await run(parseCommand(argv), signals)
  } catch (error) {
    if (error instanceof UsageError) {
      complain(`${error.message}; see svcd --help`)
      return exitCodes.usage
    }
    // A mistyped name is only a warning, and often the reason why another setting is missing.
    if (error instanceof ConfigError) warn(error.warnings)
    const failure = startFailure(error)
    if (failure) {
      complain(failure.message)
      return failure.code
    }
    complain(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return exitCodes.fault
  }
}

async function run(command: Command, signals: Signals): Promise<number> {
  if (command.name === 'help') {
    say(HELP)
    return exitCodes.stopped
  }
  requireFile(command.config)
  const load = () => loadSettings({ env: processEnvironment(), config: command.config })
  if (command.name === 'serve') return runDaemon(load, signals, (url) => say(`svcd is ready: ${url}\n`))

  signals.handle(() => process.exit(exitCodes.conflict))
  const { settings, entries, warnings } = await load()
  warn(warnings)
  if (command.name === 'settings') {
    say(printSettings(entries))
  } else if (command.name === 'doctor') {
    // Loaded only here: it brings every engine driver with it.
    const { doctor } = await import('./doctor/doctor.ts')
    const { text, exitCode } = await doctor({ settings, environment: processEnvironment(), json: command.json })
    say(text)
    return exitCode
  } else {
    await backupStorage(settings, resolve(command.file))
    say(`The database was copied to ${resolve(command.file)}\n`)
  }
  return exitCodes.stopped
}

/** Only here, where it can be a mistyped argument: a file that goes missing later is for the reload to refuse. */
function requireFile(config: string | undefined): void {
  if (config === undefined || config === NO_CONFIG_FILE || existsSync(config)) return
  throw new UsageError(`--config: there is no file ${config}`)
}
