import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { type Environment, processEnvironment } from '../config/environment.ts'
import { isLoopback } from '../config/formats.ts'
import type { Settings } from '../config/settings.ts'
import { type ContainerEngine, EngineError } from '../engine/container-engine.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'

const AGENT_DIR = join(import.meta.dirname, '../../../agent/dist')

interface Parts {
  readonly instanceId: string
  readonly clock: Clock
  readonly log: Logger
  /** This process's own unless given. */
  readonly environment?: Environment
  /** Where the built agent is; beside the server unless given. */
  readonly agentDir?: string
}

/** The engine that was asked for does not answer at the moment; another try may find it. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable'
}

/**
 * Opens what runs workspaces. This file is the one place that picks an engine's driver; each is loaded only when it is
 * asked for. Throws `ConfigError` for what a retry cannot cure, and `EngineUnavailable` for what it may.
 */
export async function openEngine(settings: Settings, parts: Parts): Promise<ContainerEngine> {
  const agentDir = parts.agentDir ?? AGENT_DIR
  const log = parts.log.child('engine')
  if (!existsSync(join(agentDir, 'agent.mjs'))) log.error(`no workspace can start: there is no agent in ${agentDir}`)
  const open = { ...parts, agentDir, log }
  switch (settings.containers.engine) {
    case 'kubernetes':
      throw refused('is kubernetes, which this version cannot do yet: set it to auto, docker or local')
    case 'local':
      return openLocal(settings, open)
    case 'docker':
      return openDocker(settings, open).catch((error: unknown) => {
        throw error instanceof EngineError
          ? new EngineUnavailable(`SVCD_ENGINE: ${error.message}`, { cause: error })
          : error
      })
    case 'auto':
      return openAny(settings, open)
  }
}

type OpenParts = Parts & { readonly agentDir: string }

/** Containers where there are any. Processes of this machine only for one person who is alone with it. */
async function openAny(settings: Settings, parts: OpenParts): Promise<ContainerEngine> {
  try {
    return await openDocker(settings, parts)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (!isForOnePerson(settings)) {
      throw refused(
        `is auto, and no container engine was found (${error.message}): install Podman (apt install podman, or dnf install podman) or Docker and start it, or set SVCD_ENGINE to local to run workspaces as processes of this machine`,
      )
    }
    parts.log.info(`no container engine was found: ${error.message}`)
    return openLocal(settings, parts)
  }
}

async function openDocker({ containers, directories }: Settings, parts: OpenParts): Promise<ContainerEngine> {
  const { openDocker: open } = await import('../engine/docker/open-docker.ts')
  const { socketCandidates } = await import('../engine/docker/find-socket.ts')
  const environment = parts.environment ?? processEnvironment()
  return open({
    instanceId: parts.instanceId,
    stateDir: directories.stateDir,
    dataDir: directories.dataDir,
    agentDir: parts.agentDir,
    sockets: socketCandidates(environment, process.getuid?.() ?? 0),
    podmanBin: containers.podmanBin,
    userns: containers.userns,
    environment,
    clock: parts.clock,
    log: parts.log,
  })
}

async function openLocal({ directories }: Settings, { agentDir, clock, log }: OpenParts): Promise<ContainerEngine> {
  const { LocalEngine } = await import('../engine/local/local-engine.ts')
  const { localLimits } = await import('../engine/local/local-limits.ts')
  try {
    const engine = await LocalEngine.open({ ...directories, agentDir, clock, log })
    log.warning(`workspaces run as ${engine.name}. ${localLimits.join(' ')}`)
    return engine
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw refused(`finds nothing to run workspaces in: ${error.message}; install Podman, Docker or bubblewrap`)
  }
}

/** Nobody signs in, because nobody else can come. */
function isForOnePerson({ auth, network }: Settings): boolean {
  return auth.modes === 'none' && (network.port === undefined || isLoopback(network.listen))
}

function refused(message: string): ConfigError {
  return new ConfigError([{ setting: 'SVCD_ENGINE', message }])
}
