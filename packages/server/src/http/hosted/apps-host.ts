import { isUuid } from '../../kernel/uuid.ts'
import { hostName } from '../hosting-address.ts'

export interface AppsHostSettings {
  readonly hostedAppsHostname: string | undefined
  readonly hostingHostname: string | undefined
}

const UUID_LENGTH = 36

/**
 * Whether a host belongs to hosted applications, and to which workspace's: its id, or `any`. There the web interface is
 * not answered: a page of an application could read whatever somebody typed into it.
 */
export function appsHostOf(host: string, settings: AppsHostSettings): string | undefined {
  const { hostedAppsHostname: configured = '*.localhost', hostingHostname } = settings
  if (!configured.startsWith('*.')) {
    const own = withoutUsualPort(host)
    const isElsewhere = hostingHostname === undefined || own !== withoutUsualPort(hostingHostname)
    return own === withoutUsualPort(configured) && isElsewhere ? 'any' : undefined
  }
  const name = hostName(host)
  const workspaceId = name.slice(0, UUID_LENGTH)
  const isBelow = name.slice(UUID_LENGTH) === hostName(configured.slice(1))
  return isBelow && isUuid(workspaceId) ? workspaceId : undefined
}

/** Browsers leave it away, whether or not it was written. */
const withoutUsualPort = (host: string): string => host.replace(/:(?:80|443)$/, '')

/** Whether browsers keep pages of this workspace, at this host, apart from the web interface. */
export function isApart(host: string, workspaceId: string, settings: AppsHostSettings): boolean {
  const owner = appsHostOf(host, settings)
  return owner === 'any' || owner === workspaceId
}
