import type { Settings } from '../../config/settings.ts'
import type { ContainerLimits } from '../../engine/container-engine.ts'
import { bytesIn } from '../../kernel/size.ts'
import type { Workspace } from './workspace.ts'

type OfServer = Settings['containers']

/** What the next container of a workspace may use: its own limits, or those of the server. */
export function effectiveLimits({ settings }: Pick<Workspace, 'settings'>, server: OfServer): ContainerLimits {
  return {
    cpus: settings?.cpu_limit ?? server.cpuLimit,
    memoryBytes: bytesOf(settings?.memory_limit) ?? server.memoryLimitBytes,
    pids: settings?.pids_limit ?? server.pidsLimit,
    tmpBytes: bytesOf(settings?.tmp_size) ?? server.tmpSizeBytes,
  }
}

const bytesOf = (text: string | undefined) => (text === undefined ? undefined : bytesIn(text))

/** The server can only forbid it. */
export const hasSudo = ({ settings }: Pick<Workspace, 'settings'>, server: OfServer): boolean =>
  server.allowSudo && settings?.allow_sudo === true
