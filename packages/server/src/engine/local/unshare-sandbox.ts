import { type Sandbox, type SandboxParts, type SandboxView, WORKSPACE_ID } from './sandbox.ts'
import { shellWord } from './shell-words.ts'
import { DROP_ROOT, isInSystem, parentsOf, type SystemEntry, systemEntries } from './system-view.ts'
import { trySandbox } from './try-sandbox.ts'

/** Those that programs need; each is the host's own. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
/** Asked for by name, because a user namespace may not take a flag away that a mount has. */
const READ_ONLY = 'remount,bind,ro,nosuid,nodev'

/** Namespaces by `unshare` and a script of mounts, for machines without `bwrap`: every Linux has these programs. */
export class UnshareSandbox implements Sandbox {
  readonly name: string
  readonly hasNetworks: boolean
  readonly #isRoot: boolean

  constructor({ name, hasNetworks, isRoot }: SandboxParts) {
    this.name = name
    this.hasNetworks = hasNetworks
    this.#isRoot = isRoot
  }

  static find(isRoot: boolean): Promise<UnshareSandbox | undefined> {
    return trySandbox(UnshareSandbox, 'unshare', isRoot)
  }

  async command(view: SandboxView): Promise<{ file: string; args: string[] }> {
    const args = [
      ...['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL'],
      ...(view.network === 'none' ? ['--net'] : []),
      ...(this.#isRoot ? [] : ['--user', '--map-root-user']),
      ...['/bin/sh', '-c', this.#script(view, await systemEntries())],
    ]
    return { file: 'unshare', args }
  }

  /** Runs as the first process of the namespace, which it stays: it reaps, and tells how the agent ended. */
  #script(view: SandboxView, system: readonly SystemEntry[]): string {
    const drop = this.#isRoot
      ? DROP_ROOT
      : ['unshare', '--user', `--map-user=${WORKSPACE_ID}`, `--map-group=${WORKSPACE_ID}`, 'setpriv', '--no-new-privs']
    return [
      'set -e',
      // Of the host's /proc: so this is our number there.
      'read -r pid rest </proc/self/stat',
      `echo "{ \\"child-pid\\": $pid }" >&3`,
      'mount --make-rprivate /',
      `root=${shellWord(view.emptyDirectory)}`,
      'mount -t tmpfs -o mode=755,nosuid tmpfs "$root"',
      ...system.flatMap(systemLines),
      ...deviceLines(),
      'mkdir "$root/proc" && mount -t proc -o nosuid,nodev,noexec proc "$root/proc"',
      'mkdir -p "$root/run" "$root/var/log" "$root/var/tmp" "$root/root" "$root/home" "$root/tmp"',
      'ln -s /run "$root/var/run"; chmod 1777 "$root/var/tmp"',
      `mount -t tmpfs -o mode=1777,nosuid,nodev${view.tmpBytes ? `,size=${view.tmpBytes}` : ''} tmpfs "$root/tmp"`,
      ...view.hidden.filter(isInSystem).map((path) => `mount -t tmpfs -o mode=700,ro tmpfs ${inRoot(path)}`),
      ...parentsOf([...view.files, ...view.mounts]).map((path) => `mkdir -p ${inRoot(path)}`),
      ...view.files.flatMap(({ source, target }) => bindLines(source, target, true)),
      ...view.mounts.flatMap(({ source, target, readOnly }) => bindLines(source, target, readOnly)),
      `hostname ${shellWord(view.hostname)}`,
      // Without the program for it, a workspace without a network has no loopback address either.
      ...(view.network === 'none' ? ['ip link set lo up 2>/dev/null || true'] : []),
      'cd "$root" && mkdir .host && pivot_root . .host && cd / && umount -l /.host && rmdir /.host',
      'set +e',
      `${drop.join(' ')} /bin/sh ${shellWord(view.script)}`,
      'code=$?',
      `echo "{ \\"exit-code\\": $code }" >&3`,
      'exit $code',
    ].join('\n')
  }
}

const inRoot = (path: string): string => `"$root"${shellWord(path)}`

function systemLines(entry: SystemEntry): string[] {
  if (entry.kind === 'link') return [`ln -s ${shellWord(entry.target)} ${inRoot(entry.path)}`]
  return [`mkdir ${inRoot(entry.path)}`, ...bindLines(entry.path, entry.path, true)]
}

function bindLines(source: string, target: string, readOnly: boolean): string[] {
  const to = inRoot(target)
  const from = shellWord(source)
  return [
    // A place for it, unless it takes the place of something.
    `if [ -d ${from} ]; then mkdir -p ${to}; elif [ ! -e ${to} ]; then : >${to}; fi`,
    `mount --rbind ${from} ${to}`,
    `mount -o ${readOnly ? READ_ONLY : 'remount,bind,nosuid,nodev'} ${to}`,
  ]
}

function deviceLines(): string[] {
  return [
    'mkdir "$root/dev" && mount -t tmpfs -o mode=755,nosuid,noexec tmpfs "$root/dev"',
    ...DEVICES.flatMap((name) => [`: >"$root/dev/${name}"`, `mount --bind /dev/${name} "$root/dev/${name}"`]),
    'mkdir "$root/dev/pts" "$root/dev/shm" && chmod 1777 "$root/dev/shm"',
    'mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"',
    'ln -s pts/ptmx "$root/dev/ptmx"; ln -s /proc/self/fd "$root/dev/fd"',
    'ln -s fd/0 "$root/dev/stdin"; ln -s fd/1 "$root/dev/stdout"; ln -s fd/2 "$root/dev/stderr"',
  ]
}
