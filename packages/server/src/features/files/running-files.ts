import { AgentLost } from '../../agent/agent-error.ts'
import type { AgentFiles } from '../../agent/agent-files.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { RunningWorkspace } from '../lifecycle/running-container.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { fileRefusal, type Refusals } from './file-refusal.ts'

/** The files of a workspace that runs, for one request. */
export interface OpenFiles {
  readonly files: AgentFiles
  /** Somebody uses the workspace. */
  touch(): void
}

/** The way to the files of workspaces: only of those that run, and every use of it counts as activity. */
export class RunningFiles {
  readonly #lifecycle: Pick<Lifecycle, 'find'>
  readonly #workspaces: Pick<Workspaces, 'require'>

  constructor(parts: { lifecycle: Pick<Lifecycle, 'find'>; workspaces: Pick<Workspaces, 'require'> }) {
    this.#lifecycle = parts.lifecycle
    this.#workspaces = parts.workspaces
  }

  /** Does `work`, and says in the words of the API what the workspace refused. */
  async use<T>(workspaceId: string, refusals: Refusals, work: (open: OpenFiles) => Promise<T>): Promise<T> {
    const running = this.#lifecycle.find(workspaceId)
    if (!running) {
      await this.#workspaces.require(workspaceId)
      throw notRunning()
    }
    running.touch()
    try {
      return await work({ files: running.agent.files, touch: () => running.touch() })
    } catch (error) {
      throw error instanceof AgentLost ? this.#lost(running) : fileRefusal(error, refusals)
    }
  }

  #lost({ workspaceId, containerId }: RunningWorkspace): AppError {
    const isGone = this.#lifecycle.find(workspaceId)?.containerId !== containerId
    return isGone
      ? notRunning()
      : new AppError('unavailable', 'The connection to the workspace was lost: try again in a moment')
  }
}

const notRunning = (): AppError => new AppError('container_not_running', 'Container not running')
