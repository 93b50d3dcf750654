import { readFile } from 'node:fs/promises'
import type { Version } from '@svc/protocol/instance'
import { z } from 'zod'
import type { Logger } from '../../kernel/logger.ts'

const BuildFile = z.object({
  version: z.string().default('dev'),
  commit: z.string().default('unknown'),
  built_at: z.string().nullable().default(null),
})
export type Build = z.infer<typeof BuildFile>

const UNKNOWN_BUILD: Build = { version: 'dev', commit: 'unknown', built_at: null }

/** What a release wrote about itself. A bad file is no reason not to start: it only costs the version number. */
export async function readBuild(file: string | undefined, log: Logger): Promise<Build> {
  if (file === undefined) return UNKNOWN_BUILD
  try {
    return BuildFile.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    log.warning('the version file is not usable; reporting version "dev"', { error })
    return UNKNOWN_BUILD
  }
}

export const versionReply = (build: Build): Version => ({ ...build, features: [] })
