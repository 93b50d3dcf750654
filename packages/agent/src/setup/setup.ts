import { env as containerEnv, umask } from 'node:process'
import { type Variables, workspaceEnvironment } from '../environment.ts'
import { type Places, sharedHome } from '../places.ts'
import type { RequestFields } from '../request-fields.ts'
import { loginShell } from '../shells.ts'
import type { Workspace } from '../workspace.ts'
import { findAccount } from './account.ts'
import { prepareAsRoot } from './prepare-as-root.ts'
import { ensureHome } from './skeleton.ts'
import type { TokenFile } from './token-file.ts'

export interface SetupParts {
  readonly places: Places
  readonly workspace: Workspace
  readonly token: TokenFile
  startService(command: string): void
  /** Loads what terminals need, soon. */
  preload(): void
}

/** The first request to a new agent; see `SetupRequest`. Asked again, it changes nothing. */
export class Setup {
  readonly #parts: SetupParts
  #running: Promise<void> | undefined

  constructor(parts: SetupParts) {
    this.#parts = parts
  }

  async run(fields: RequestFields): Promise<void> {
    const wanted = {
      sudo: fields.flag('sudo'),
      serviceCommand: fields.textOrNull('service_command'),
      token: fields.textOrNull('token'),
      env: fields.variables('env'),
    }
    this.#running ??= this.#setUp(wanted).catch((error: unknown) => {
      // The server may ask again, and what was missing may be there then.
      this.#running = undefined
      throw error
    })
    await this.#running
  }

  async #setUp(wanted: {
    sudo: boolean
    serviceCommand: string | null
    token: string | null
    env: Variables
  }): Promise<void> {
    const { places, workspace, token, startService, preload } = this.#parts
    const isRoot = process.getuid?.() === 0 && places.userId !== 0
    const account = isRoot ? prepareAsRoot(places, wanted) : findAccount(process.getuid?.() ?? places.userId)
    umask(0o022)
    const home = sharedHome(places)
    ensureHome(home)
    await token.ensureFolder()
    if (wanted.token !== null) await token.write(wanted.token)
    const shell = account?.shell ?? loginShell()
    workspace.ready(workspaceEnvironment({ container: containerEnv, home, shell, setup: wanted.env }))
    if (wanted.serviceCommand !== null) startService(wanted.serviceCommand)
    preload()
  }
}
