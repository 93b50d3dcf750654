import type { SortOrder } from '@svc/protocol/paging'
import type { Volume } from '../../engine/container-engine.ts'

/** A volume and the workspaces it has to do with. */
export interface VolumeInUse extends Volume {
  /** Null when the workspace it belongs to is gone. */
  readonly workspace: string | null
  /** Names of those whose mounts refer to it, sorted. */
  readonly mountedBy: readonly string[]
}

/** Which volumes, and in what order. */
export interface VolumeView {
  readonly page: number
  readonly pageSize: number
  readonly sort: 'name' | 'created'
  readonly order: SortOrder
  /** A part of one of its names; empty or undefined for all. */
  readonly text: string | undefined
}

/** What a workspace has to do with volumes. */
export interface MountingWorkspace {
  readonly id: string
  readonly name: string
  readonly mounts: readonly string[]
}

/** A source with a slash or a leading dot is a path of the host, everything else a volume. */
export function volumeIn(mount: string): string | undefined {
  const source = mount.split(':', 1)[0] ?? ''
  return source === '' || source.includes('/') || source.startsWith('.') ? undefined : source
}

export function joinWorkspaces(
  volumes: readonly Volume[],
  { ownerNames, mounting }: { ownerNames: ReadonlyMap<string, string>; mounting: readonly MountingWorkspace[] },
): VolumeInUse[] {
  const mountedBy = new Map<string, string[]>()
  for (const { name, mounts } of mounting) {
    for (const volume of new Set(mounts.map(volumeIn))) {
      if (volume !== undefined) mountedBy.set(volume, [...(mountedBy.get(volume) ?? []), name])
    }
  }
  return volumes.map((volume) => ({
    ...volume,
    workspace: ownerNames.get(volume.workspaceId) ?? null,
    mountedBy: (mountedBy.get(volume.name) ?? []).sort(),
  }))
}

export function pageOf(volumes: readonly VolumeInUse[], view: VolumeView): { volumes: VolumeInUse[]; total: number } {
  const wanted = view.text?.toLowerCase() ?? ''
  const found = volumes.filter(({ name, workspace, mountedBy }) =>
    [name, workspace ?? '', ...mountedBy].some((text) => text.toLowerCase().includes(wanted)),
  )
  const sign = view.order === 'asc' ? 1 : -1
  const first = (view.page - 1) * view.pageSize
  const sorted = found.toSorted((a, b) => sign * compare(a, b, view.sort) || byName(a, b))
  return { volumes: sorted.slice(first, first + view.pageSize), total: found.length }
}

const byName = (a: Volume, b: Volume): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

const compare = (a: Volume, b: Volume, sort: VolumeView['sort']): number =>
  sort === 'name' ? byName(a, b) : a.createdAt - b.createdAt
