import { ConfigError } from '../config/config-error.ts'
import { SeedRefused } from '../features/seeding/seed.ts'
import { ListenError } from '../http/listener.ts'
import { LogFileError } from '../logging/log-file.ts'
import { DatabaseInUse } from '../storage/database-in-use.ts'
import { BackupFailed, StorageUnavailable } from '../storage/storage.ts'
import { DataDirectoryInUse, DirectoryUnusable } from './directories.ts'
import { EngineUnavailable } from './open-engine.ts'

/** How the process ends. A supervisor may restart on all but `configuration` and `usage`, which a retry cannot cure. */
export const exitCodes = {
  stopped: 0,
  conflict: 1,
  usage: 2,
  unavailable: 3,
  fault: 70,
  configuration: 78,
} as const

export const exitCodeMeanings: Readonly<Record<(typeof exitCodes)[keyof typeof exitCodes], string>> = {
  0: 'stopped as asked',
  1: 'another server holds the data directory, the database or the address, or a second signal forced the end',
  2: 'the command line was not understood',
  3: 'the database, a directory or the container engine cannot be used at the moment',
  70: 'an unexpected fault; the log has the details',
  78: 'a setting is wrong; the message names it',
}

/** The code and the sentence for a failure on the way up; undefined when it is a fault of ours. */
export function startFailure(error: unknown): { code: number; message: string } | undefined {
  if (error instanceof ConfigError || error instanceof LogFileError || error instanceof SeedRefused) {
    return { code: exitCodes.configuration, message: error.message }
  }
  if (error instanceof ListenError) {
    const code = error.retryable ? exitCodes.conflict : exitCodes.configuration
    return { code, message: `${error.message}; ${error.retryable ? 'stop it, or change' : 'check'} ${error.settings}` }
  }
  if (error instanceof DataDirectoryInUse || error instanceof DatabaseInUse) {
    return { code: exitCodes.conflict, message: error.message }
  }
  const passing = [StorageUnavailable, BackupFailed, DirectoryUnusable, EngineUnavailable]
  if (error instanceof Error && passing.some((kind) => error instanceof kind)) {
    return { code: exitCodes.unavailable, message: error.message }
  }
  return undefined
}
