import { EngineError } from '../container-engine.ts'
import type { Owner } from '../host-homes/host-homes.ts'
import type { UserNamespace } from './create-plan.ts'
import type { EngineFlavour } from './engine-flavour.ts'
import { chooseIdMap } from './id-map.ts'

/** How ids in containers stand for ids of the host. */
export interface HostIds {
  readonly userNamespace: UserNamespace
  /** Root in a container is somebody without rights on the host. */
  readonly isSeparate: boolean
  /** Whom to give files to, so that they belong to the container's root or user; undefined when we may not. */
  readonly owners: { readonly root: Owner; readonly user: Owner } | undefined
}

const USER_ID = 1000

interface Options {
  readonly flavour: EngineFlavour
  /** Podman's words for a user namespace, when it does not run as root. */
  readonly userns: string
  readonly subuid: string
  readonly subgid: string
  readonly isRoot: boolean
}

export function chooseHostIds({ flavour, userns, subuid, subgid, isRoot }: Options): HostIds {
  const { kind, info } = flavour
  const options = info.SecurityOptions ?? []
  const isRootless = info.Rootless === true || options.some((option) => option.startsWith('name=rootless'))
  if (kind === 'podman' && isRootless) {
    return { userNamespace: { kind: 'named', mode: userns }, isSeparate: true, owners: undefined }
  }
  if (isRootless) {
    // Homes would belong to ids that we can neither give files to nor take them from.
    throw new EngineError(
      'failed',
      'Docker without root is not supported: use Podman, which can keep the user’s own id',
    )
  }
  const ownersAfter = (first: Owner) =>
    isRoot ? { root: first, user: { uid: first.uid + USER_ID, gid: first.gid + USER_ID } } : undefined
  if (kind === 'podman') {
    const map = chooseIdMap(subuid, subgid)
    return {
      userNamespace: { kind: 'map', map },
      isSeparate: true,
      owners: ownersAfter({ uid: map.firstUid, gid: map.firstGid }),
    }
  }
  // A daemon that maps ids keeps everything of that map in a directory of its own, named by it.
  const remapped = /\/(\d+)\.(\d+)$/.exec(info.DockerRootDir ?? '')
  const isRemapped = remapped !== null && options.some((option) => option.startsWith('name=userns'))
  return {
    userNamespace: { kind: 'daemon' },
    isSeparate: isRemapped,
    owners: ownersAfter(isRemapped ? { uid: Number(remapped[1]), gid: Number(remapped[2]) } : { uid: 0, gid: 0 }),
  }
}
