import { socketAnswers } from './socket-answers.ts'

/** Where engines listen, the preferred first. What the operator's environment names comes before all. */
export function socketCandidates(environment: Readonly<Record<string, string | undefined>>, uid: number): string[] {
  const named = [environment.CONTAINER_HOST, environment.DOCKER_HOST].flatMap((value) =>
    value?.startsWith('unix://') ? [value.slice('unix://'.length)] : [],
  )
  const own = `${environment.XDG_RUNTIME_DIR ?? `/run/user/${uid}`}/podman/podman.sock`
  const podman = uid === 0 ? ['/run/podman/podman.sock'] : [own, '/run/podman/podman.sock']
  return [...named, ...podman, '/var/run/docker.sock']
}

/** The first that answers. */
export async function findSocket(candidates: readonly string[]): Promise<string | undefined> {
  for (const path of candidates) {
    if (await socketAnswers(path)) return path
  }
  return undefined
}
