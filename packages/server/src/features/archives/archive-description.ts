import { ARCHIVE_FORMAT, type ArchiveDescription } from '@svc/protocol/archives'
import { AppError } from '../../kernel/app-error.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { DESCRIPTION_NAME } from './archive-members.ts'

/** What an archive says of the workspace it was made from. */
export function describeWorkspace(workspace: Workspace, instanceId: string): ArchiveDescription {
  return {
    format: ARCHIVE_FORMAT,
    name: workspace.name,
    instance_id: instanceId,
    image: workspace.image,
    service_command: workspace.serviceCommand,
    auto_start: workspace.autoStart,
    mounts: workspace.mounts,
    env: workspace.env,
    health_check: workspace.healthCheck,
    allowed_domains: workspace.allowedDomains,
    rejected_domains: workspace.rejectedDomains,
    settings: workspace.settings,
    num_ports: workspace.numPorts,
    egress_mode: workspace.egressMode,
    per_handle_home: workspace.perHandleHome,
    classification_banner: workspace.classificationBanner,
  }
}

/** As it stands in an archive: whatever somebody wrote there. */
export type WrittenDescription = Readonly<Record<string, unknown>>

/** Reads `workspace.json`. Archives of other servers are refused: what they refer to means something else here. */
export function readDescription(bytes: Uint8Array, instanceId: string): WrittenDescription {
  const written = parse(bytes)
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    throw new AppError('archive_invalid', `${DESCRIPTION_NAME} in the archive is not a JSON object`)
  }
  const description: WrittenDescription = { ...written }
  if (description.instance_id !== instanceId) {
    throw new AppError('archive_invalid', 'The archive was made by another server')
  }
  if (typeof description.format === 'number' && description.format > ARCHIVE_FORMAT) {
    throw new AppError('archive_invalid', 'The archive was made by a newer version of this server')
  }
  return description
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new AppError('archive_invalid', `${DESCRIPTION_NAME} in the archive is not JSON`)
  }
}
