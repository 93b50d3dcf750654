import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../config/environment.ts'
import type { Settings } from '../../config/settings.ts'
import type { ContainerEngine } from '../../engine/container-engine.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openEngine } from '../open-engine.ts'
import { silentLogger } from './silent-logger.ts'

/**
 * The engine that the server would use, opened once for all checks, under an instance id and in directories of its own:
 * a server that is running, and its workspaces, are not touched.
 */
export class TrialEngine {
  readonly #settings: Settings
  readonly #environment: Environment
  #opened: Promise<ContainerEngine> | undefined
  #folder: string | undefined

  constructor({ settings, environment }: { settings: Settings; environment: Environment }) {
    this.#settings = settings
    this.#environment = environment
  }

  /** Rejects, each time it is asked, when there is none. */
  open(): Promise<ContainerEngine> {
    this.#opened ??= this.#open()
    return this.#opened
  }

  async close(): Promise<void> {
    const engine = await this.#opened?.catch(() => undefined)
    await engine?.close()
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
  }

  async #open(): Promise<ContainerEngine> {
    const folder = await mkdtemp(join(tmpdir(), 'svcd-doctor-'))
    this.#folder = folder
    const places = { stateDir: join(folder, 'state'), dataDir: join(folder, 'data') }
    const settings = { ...this.#settings, directories: { ...this.#settings.directories, ...places } }
    return openEngine(settings, {
      instanceId: randomUUID(),
      clock: systemClock,
      log: silentLogger,
      environment: this.#environment,
    })
  }
}
