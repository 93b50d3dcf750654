import { runProgram } from './run-program.ts'
import { type Sandbox, type SandboxView, WORKSPACE_ID } from './sandbox.ts'
import { DROP_ROOT, isInSystem, parentsOf, type SystemEntry, systemEntries } from './system-view.ts'
import { worksWith } from './trial-view.ts'

/** Namespaces by `bwrap`. As root it needs no user namespace; others get one in which they are the workspace's user. */
export class Bubblewrap implements Sandbox {
  readonly name: string
  readonly hasNetworks: boolean
  readonly #isRoot: boolean

  private constructor(parts: { name: string; hasNetworks: boolean; isRoot: boolean }) {
    this.name = parts.name
    this.hasNetworks = parts.hasNetworks
    this.#isRoot = parts.isRoot
  }

  /** Undefined where it is not installed or not allowed. */
  static async find(isRoot: boolean): Promise<Bubblewrap | undefined> {
    const trial = new Bubblewrap({ name: '', hasNetworks: true, isRoot })
    const version = await runProgram('bwrap', ['--version'])
    if (version.code !== 0 || !(await worksWith(trial, 'isolated'))) return undefined
    return new Bubblewrap({ name: version.output.trim(), hasNetworks: await worksWith(trial, 'none'), isRoot })
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
