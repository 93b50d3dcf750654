// The container engine that the server will use, through its command line.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export const LABEL = 'svc.inputs'

/**
 * Engines in the order in which the server looks for them: what the environment names, then sockets, then a Podman to
 * start itself.
 */
export function engineCommands(environment = process.env) {
  const podman = environment.SVCD_PODMAN_BIN || 'podman'
  const own = `${environment.XDG_RUNTIME_DIR ?? `/run/user/${process.getuid?.()}`}/podman/podman.sock`
  const inOrder = [
    environment.CONTAINER_HOST && podman,
    environment.DOCKER_HOST && 'docker',
    [own, '/run/podman/podman.sock'].some(existsSync) && podman,
    existsSync('/var/run/docker.sock') && 'docker',
    podman,
  ]
  return [...new Set(inOrder.filter((command) => command))]
}

/** The first engine that answers, with the digest its image of this name was built from; undefined when none does. */
export function findEngine(image, commands = engineCommands()) {
  for (const command of commands) {
    const format = `{{.Id}} {{index .Config.Labels "${LABEL}"}}`
    const { status, stdout, stderr } = spawnSync(command, ['image', 'inspect', '--format', format, image], {
      encoding: 'utf8',
      timeout: 20_000,
    })
    if (status === 0) {
      const [id, digest] = stdout.trim().split(' ')
      return { command, id, digest }
    }
    if (/no such image|image not known/i.test(stderr ?? '')) return { command, id: undefined, digest: undefined }
  }
  return undefined
}
