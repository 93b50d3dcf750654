import { existsSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ContainerSpec } from '../container-engine.ts'
import type { Owner } from '../host-homes/host-homes.ts'
import { removeTree } from '../host-homes/remove-tree.ts'
import { WORKSPACE_ID } from './sandbox.ts'
import { exportLines } from './shell-words.ts'
import { isInSystem } from './system-view.ts'

/** Where the script that becomes the agent lies in the view of a workspace. */
export const LAUNCH_SCRIPT = '/run/svc-launch.sh'

/** What a workspace needs of files on the host: made anew for every start. */
export class WorkspaceDirectory {
  readonly #path: string
  /** Where the agent makes its socket. */
  readonly socketDirectory: string
  readonly #owner: Owner | undefined
  readonly #trash: string

  constructor(parts: { path: string; socketDirectory: string; trash: string; owner: Owner | undefined }) {
    this.#path = parts.path
    this.socketDirectory = parts.socketDirectory
    this.#owner = parts.owner
    this.#trash = parts.trash
  }

  get log(): string {
    return join(this.#path, 'output.log')
  }

  get status(): string {
    return join(this.#path, 'status')
  }

  /** For the sandbox to work in. */
  get emptyDirectory(): string {
    return join(this.#path, 'root')
  }

  /** Answers the files that take the place of the host's. */
  async make(spec: ContainerSpec): Promise<{ source: string; target: string }[]> {
    await this.remove()
    await mkdir(this.emptyDirectory, { recursive: true, mode: 0o700 })
    await mkdir(this.socketDirectory, { recursive: true, mode: 0o700 })
    if (this.#owner) await chown(this.socketDirectory, this.#owner.uid, this.#owner.gid)
    const files = [
      { name: 'passwd', target: '/etc/passwd', content: await withUser('/etc/passwd', '/home:/bin/bash') },
      { name: 'group', target: '/etc/group', content: await withUser('/etc/group', '') },
      { name: 'hosts', target: '/etc/hosts', content: hostsFile(spec.hostname) },
      { name: 'resolv.conf', target: await resolverTarget(), content: await resolverFile(spec.dns) },
      { name: 'launch.sh', target: LAUNCH_SCRIPT, content: launchScript(spec.env) },
    ]
    for (const { name, content } of files) await writeFile(join(this.#path, name), content, { mode: 0o644 })
    await this.#makePrivate('launch.sh')
    // A file that the host does not have has no place to be mounted at.
    return files.flatMap(({ name, target }) =>
      isInSystem(target) && !existsSync(target) ? [] : [{ source: join(this.#path, name), target }],
    )
  }

  async remove(): Promise<void> {
    // What is beside the socket is the workspace's own doing.
    for (const path of [this.#path, this.socketDirectory]) await removeTree(path, this.#trash)
  }

  /** For the workspace's user alone: the environment may hold secrets. */
  async #makePrivate(name: string): Promise<void> {
    const file = join(this.#path, name)
    await chmod(file, 0o400)
    if (this.#owner) await chown(file, this.#owner.uid, this.#owner.gid)
  }
}

/**
 * Tells the server that all stands, and becomes the agent when the server has written that down: a server that ends in
 * between leaves nothing behind.
 */
function launchScript(env: ContainerSpec['env']): string {
  return [
    ...['echo started >&4', 'read -r go <&4 || exit 1', 'echo going >&4', 'exec 3>&- 4>&-'],
    ...exportLines(env),
    'exec /opt/svc/node /opt/svc/agent.mjs',
    '',
  ].join('\n')
}

/** The host's accounts, with ours in the place of any other that has its number or name. */
async function withUser(file: string, rest: string): Promise<string> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  const others = lines.filter((line) => {
    const [name, , id] = line.split(':')
    return name !== 'svc' && id !== `${WORKSPACE_ID}`
  })
  const own = rest === '' ? `svc:x:${WORKSPACE_ID}:` : `svc:x:${WORKSPACE_ID}:${WORKSPACE_ID}::${rest}`
  return `${[...others, own].join('\n')}\n`
}

/** The network is the host's, so the host is found at the loopback address. */
function hostsFile(hostname: string): string {
  return `127.0.0.1 localhost host.containers.internal\n::1 localhost\n127.0.1.1 ${hostname}\n`
}

/** Often a link into `/run`, which a workspace has of its own: the file goes where the link points. */
async function resolverTarget(): Promise<string> {
  const path = '/etc/resolv.conf'
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink()
  return isLink ? resolve('/etc', await readlink(path)) : path
}

async function resolverFile({ servers, search }: ContainerSpec['dns']): Promise<string> {
  const host = await readFile('/etc/resolv.conf', 'utf8').catch(() => '')
  if (servers.length === 0 && search.length === 0) return host
  const kept = servers.length > 0 ? '' : host
  return [
    ...servers.map((server) => `nameserver ${server}`),
    ...(search.length > 0 ? [`search ${search.join(' ')}`] : []),
    kept,
  ].join('\n')
}
