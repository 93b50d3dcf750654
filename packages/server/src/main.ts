import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from './config/config-error.ts'
import { NO_CONFIG_FILE } from './config/config-file.ts'
import { processEnvironment } from './config/environment.ts'
import { type LoadedSettings, loadSettings } from './config/load-settings.ts'
import { printSettings } from './config/print-settings.ts'
import { type Command, parseCommand, UsageError } from './process/command-line.ts'
import { exitCodes, startFailure } from './process/exit-codes.ts'
import { HELP } from './process/help.ts'
import { backupStorage } from './process/open-storage.ts'
import { runDaemon } from './process/serve.ts'

const say = (text: string): void => void process.stdout.write(text)
const complain = (text: string): void => void process.stderr.write(`svcd: ${text}\n`)

async function run(command: Command): Promise<number> {
  switch (command.name) {
    case 'help':
      say(HELP)
      return exitCodes.stopped
    case 'settings':
      say(printSettings((await load(command.config)).entries))
      return exitCodes.stopped
    case 'backup':
      await backupStorage((await load(command.config)).settings, resolve(command.file))
      say(`The database was copied to ${resolve(command.file)}\n`)
      return exitCodes.stopped
    case 'serve':
      return runDaemon(
        () => load(command.config),
        (url) => say(`svcd is ready: ${url}\n`),
      )
  }
}

function load(config: string | undefined): Promise<LoadedSettings> {
  if (config !== undefined && config !== NO_CONFIG_FILE && !existsSync(config)) {
    throw new UsageError(`--config: there is no file ${config}`)
  }
  return loadSettings({ env: processEnvironment(), config })
}

/** Every way this process can end on purpose goes through here. */
async function main(): Promise<number> {
  try {
    return await run(parseCommand(process.argv.slice(2)))
  } catch (error) {
    if (error instanceof UsageError) {
      complain(`${error.message}; see svcd --help`)
      return exitCodes.usage
    }
    // A mistyped name is only a warning, and often the reason why another setting is missing.
    if (error instanceof ConfigError) for (const warning of error.warnings) complain(`warning: ${warning}`)
    const failure = startFailure(error)
    if (failure) {
      complain(failure.message)
      return failure.code
    }
    complain(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return exitCodes.fault
  }
}

process.exit(await main())
