import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerEngine, ContainerSpec } from '../../engine/container-engine.ts'
import { localLimits } from '../../engine/local/local-limits.ts'
import { type Check, type DoctorContext, error, type Finding, ok, warning } from './check.ts'

/** Built together with the server. */
const AGENT_SCRIPT = join(import.meta.dirname, '../../../../agent/dist/agent.mjs')

/** A service of Podman may have to be started, and its storage to be looked over. */
const ENGINE_LIMIT_MS = 30_000
/** The first container of an image may need its layers mapped. */
const START_LIMIT_MS = 60_000
/** What was started is removed also when it comes late. */
const START_CHECK_LIMIT_MS = START_LIMIT_MS + ENGINE_LIMIT_MS

export const engineChecks: readonly Check[] = [
  { name: 'engine', limitMs: ENGINE_LIMIT_MS, run: checkEngine },
  { name: 'workspace start', limitMs: START_CHECK_LIMIT_MS, run: checkStart },
]

async function checkEngine({ engine, settings }: DoctorContext): Promise<Finding> {
  let opened: ContainerEngine
  try {
    opened = await engine.open()
  } catch (fault) {
    const hint =
      settings.containers.engine === 'local'
        ? 'Install it: apt-get install bubblewrap'
        : 'Install Podman: apt-get install podman runc uidmap, or start the service of the engine you have.'
    return error(`no engine can be used: ${fault instanceof Error ? fault.message : String(fault)}`, hint)
  }
  if (!opened.supports.images) {
    const text = `workspaces run as ${opened.name}`
    const hint = 'For containers install Podman: apt-get install podman runc uidmap'
    return { ...(settings.containers.engine === 'local' ? ok(text) : warning(text, hint)), details: localLimits }
  }
  if (opened.supports.userNamespaces) return ok(`${opened.name} answers`)
  return warning(
    `${opened.name} answers, but root in a workspace would be root of this machine`,
    'Set userns-remap in the Docker daemon, or use Podman.',
  )
}

/** Runs a workspace exactly as the server would, and waits for its agent to say hello. */
async function checkStart({ engine, settings }: DoctorContext): Promise<Finding> {
  const opened = await engine.open().catch(() => undefined)
  if (!opened) return error('not tried, because there is no engine')
  if (!existsSync(AGENT_SCRIPT)) return warning('not tried: the agent is not built', 'Run: npm start')
  const image = settings.containers.imageName
  if (opened.supports.images && !(await opened.images.has(image))) {
    return warning(`not tried: there is no image ${image}`, 'Run npm start, which builds it, or set SVCD_IMAGE_NAME.')
  }
  const spec = trialSpec(image, settings.containers)
  const signal = AbortSignal.timeout(START_LIMIT_MS)
  let id: string | undefined
  try {
    id = await opened.run(spec, { signal, onCreated: async () => undefined })
    const stream = await opened.connect(id, signal)
    await once(stream, 'data', { signal })
    stream.destroy()
    return ok(`a workspace ${opened.supports.images ? `of ${image} ` : ''}starts, and its agent answers`)
  } catch (fault) {
    return error(
      `a workspace cannot be started: ${fault instanceof Error ? fault.message : String(fault)}`,
      'Look at what the engine says; the checks below may show the reason.',
    )
  } finally {
    if (id !== undefined) await opened.remove(id, { graceSeconds: 1 })
    await opened.homes.remove(spec.workspaceId)
  }
}

function trialSpec(image: string, settings: DoctorContext['settings']['containers']): ContainerSpec {
  return {
    workspaceId: randomUUID(),
    role: 'workspace',
    slug: 'doctor',
    image,
    hostname: 'doctor',
    env: {},
    limits: {
      cpus: settings.cpuLimit,
      memoryBytes: settings.memoryLimitBytes,
      pids: settings.pidsLimit,
      tmpBytes: settings.tmpSizeBytes,
    },
    network: 'none',
    ports: [],
    dns: { servers: [], search: [] },
    mounts: [],
    sudo: false,
  }
}
