import { type Sandbox, type SandboxParts, type SandboxView, WORKSPACE_ID } from './sandbox.ts'
import { DROP_ROOT, isInSystem, parentsOf, type SystemEntry, systemEntries } from './system-view.ts'
import { trySandbox } from './try-sandbox.ts'

/** Namespaces by `bwrap`. As root it needs no user namespace; others get one in which they are the workspace's user. */
export class Bubblewrap implements Sandbox {
  readonly name: string
  readonly hasNetworks: boolean
  readonly #isRoot: boolean

  constructor({ name, hasNetworks, isRoot }: SandboxParts) {
    this.name = name
    this.hasNetworks = hasNetworks
    this.#isRoot = isRoot
  }

  static find(isRoot: boolean): Promise<Bubblewrap | undefined> {
    return trySandbox(Bubblewrap, 'bwrap', isRoot)
  }

  async command(view: SandboxView): Promise<{ file: string; args: string[] }> {
    const args = [
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', view.hostname],
      ...(view.network === 'none' ? ['--unshare-net'] : []),
      ...(this.#isRoot ? [] : ['--unshare-user', '--uid', `${WORKSPACE_ID}`, '--gid', `${WORKSPACE_ID}`]),
      ...(await systemEntries()).flatMap(systemMount),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run', '--tmpfs', '/var', '--symlink', '/run', '/var/run'],
      ...['--perms', '1777', '--tmpfs', '/var/tmp', '--dir', '/var/log', '--dir', '/root'],
      ...['--perms', '1777', ...(view.tmpBytes ? ['--size', `${view.tmpBytes}`] : []), '--tmpfs', '/tmp'],
      ...view.hidden.flatMap((path) => (isInSystem(path) ? ['--tmpfs', path] : [])),
      ...parentsOf([...view.files, ...view.mounts]).flatMap((path) => ['--dir', path]),
      ...view.files.flatMap(({ source, target }) => ['--ro-bind', source, target]),
      ...view.mounts.flatMap(({ source, target, readOnly }) => [readOnly ? '--ro-bind' : '--bind', source, target]),
      ...['--chdir', '/', '--json-status-fd', '3', '--'],
      ...(this.#isRoot ? DROP_ROOT : []),
      ...['/bin/sh', view.script],
    ]
    return { file: 'bwrap', args }
  }
}

const systemMount = (entry: SystemEntry): string[] =>
  entry.kind === 'link' ? ['--symlink', entry.target, entry.path] : ['--ro-bind', entry.path, entry.path]
