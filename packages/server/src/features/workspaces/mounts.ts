import type { Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { VOLUME_NAME } from '@svc/protocol/volumes'
import type { Settings } from '../../config/settings.ts'
import type { ContainerMount } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'

/** Which host paths workspaces may have. */
export interface MountRules {
  /** A host path must be one of these, or below one. */
  readonly allowedRoots: readonly string[]
  /** What may be neither mounted, nor with what is above or below it. */
  readonly protectedPaths: readonly string[]
}

const OPTIONS = ['ro', 'rw', 'z', 'Z', 'nocopy', 'consistent', 'cached', 'delegated']

/** Who has one of these has the machine. */
const MACHINE = [
  '/proc',
  '/sys',
  '/dev',
  '/run/user',
  '/run/docker.sock',
  '/run/docker',
  '/run/containerd',
  '/run/podman',
  '/run/crio',
  '/var/lib/docker',
  '/var/lib/containerd',
  '/var/lib/containers',
]
/** Where an engine's socket is in a directory that has one. */
const ENGINE_SOCKETS = ['docker.sock', 'podman.sock', 'docker/docker.sock', 'podman/podman.sock']

/**
 * Nothing may lie on them, hide them, or be put into them: they are ours, or programs that begin as root read them. Who
 * could put a library or a password file there would be root in a container that must not have one.
 */
const OURS = [
  ...['/opt/svc', '/run', '/var/run', '/tmp/svc', '/proc', '/sys', '/dev', '/boot', '/root'],
  ...['/etc', '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
]
/** Other mounts may be below these. */
const OURS_ITSELF = ['/', '/home']

/** As long as the system itself takes them. */
const MAX_PATH_BYTES = 4095
const MAX_MOUNTS = 64
/** Of what was sent, in a refusal. */
const SHOWN_LENGTH = 200

export function mountRulesOf(
  { containers, directories }: Pick<Settings, 'containers' | 'directories'>,
  /** Sockets of the engine that is used, and whatever else of the server lies elsewhere. */
  more: readonly string[],
): MountRules {
  const { dataDir, stateDir, configDir } = directories
  return { allowedRoots: containers.allowedMountRoots, protectedPaths: [dataDir, stateDir, configDir, ...more] }
}

/**
 * What an engine is to mount. Asked when mounts are written and again at every start: a directory that was fine may have
 * become a link to another since. Host paths are given back with their links resolved.
 */
export async function checkMounts(mounts: readonly string[] | null, rules: MountRules): Promise<ContainerMount[]> {
  const checked: ContainerMount[] = []
  if (mounts && mounts.length > MAX_MOUNTS) {
    throw new AppError('bad_request', `A workspace has at most ${MAX_MOUNTS} mounts`)
  }
  for (const spec of mounts ?? []) {
    const mount = await checkMount(spec, rules)
    if (checked.some(({ target }) => target === mount.target)) refuse(spec, 'the destination is used twice')
    checked.push(mount)
  }
  return checked
}

async function checkMount(spec: string, rules: MountRules): Promise<ContainerMount> {
  if (spec.includes('\0')) refuse(spec, 'it must not hold a NUL character')
  const [source = '', destination, options, ...rest] = spec.split(':')
  if (destination === undefined || rest.length > 0) {
    refuse(spec, 'it must be source:destination or source:destination:options')
  }
  if (source === '') refuse(spec, 'the source is empty')
  // Before anything else is done with them: to follow a path costs time for each of its parts.
  if ([source, destination].some((path) => Buffer.byteLength(path) > MAX_PATH_BYTES)) {
    refuse(spec, `a path has at most ${MAX_PATH_BYTES} bytes`)
  }
  const target = checkDestination(spec, destination)
  const readOnly = checkOptions(spec, options)
  if (isHostPath(source)) {
    return { kind: 'host', source: await checkHostPath(spec, source, rules), target, readOnly }
  }
  if (!VOLUME_NAME.test(source)) {
    refuse(spec, 'the source must be a path from / or a volume name of at most 64 letters, digits and _ . -')
  }
  return { kind: 'volume', name: source, target, readOnly }
}

/** The mounts of host paths. */
export function withoutVolumes(mounts: readonly string[] | null): readonly string[] | null {
  const kept = mounts?.filter(isHostPath) ?? []
  return kept.length === 0 ? null : kept
}

/** Whether a source, or a mount that begins with it, is a path and no volume's name. */
const isHostPath = (source: string): boolean => source.startsWith('/') || source.startsWith('.')

function checkDestination(spec: string, destination: string): string {
  if (!destination.startsWith('/')) refuse(spec, 'the destination must be a path from /')
  const target = posix
    .normalize(destination)
    .replace(/(?<=.)\/+$/, '')
    .replace(/^\/+/, '/')
  if (OURS_ITSELF.includes(target) || OURS.some((path) => isWithin(target, path) || isWithin(path, target))) {
    refuse(spec, `${target} belongs to the workspace itself`)
  }
  return target
}

/** Whether it may only be read. What else the options say is about engines we do not have. */
function checkOptions(spec: string, text: string | undefined): boolean {
  const options = text?.split(',') ?? []
  const unknown = options.find((option) => !OPTIONS.includes(option))
  if (unknown !== undefined) refuse(spec, `'${unknown}' is none of the options ${OPTIONS.join(', ')}`)
  if (options.includes('ro') && options.includes('rw')) refuse(spec, 'ro and rw exclude each other')
  return options.includes('ro')
}

/** What is outside of the roots is refused in one way, whether or not it exists. */
async function checkHostPath(spec: string, source: string, rules: MountRules): Promise<string> {
  const written = resolve(source)
  const path = await resolveLinks(written)
  await refuseProtected(spec, [written, path], rules)
  const roots = await Promise.all(rules.allowedRoots.map(resolveLinks))
  if (!roots.some((root) => isWithin(path, root))) {
    refuse(spec, roots.length === 0 ? 'this server mounts volumes only' : 'the source is not below an allowed root')
  }
  const found = await statOf(path)
  if (!found) refuse(spec, 'the source does not exist')
  if (!found.isDirectory() && !found.isFile()) refuse(spec, 'the source must be a directory or a file')
  if (found.isDirectory() && (await holdsEngineSocket(path))) refuse(spec, 'the source holds the socket of an engine')
  return path
}

async function refuseProtected(spec: string, paths: readonly string[], rules: MountRules): Promise<void> {
  for (const kept of [...MACHINE, ...rules.protectedPaths]) {
    const places = [resolve(kept), await resolveLinks(kept)]
    const touches = (path: string) => places.some((place) => isWithin(path, place) || isWithin(place, path))
    if (paths.some(touches)) refuse(spec, 'the source is protected')
  }
}

async function holdsEngineSocket(directory: string): Promise<boolean> {
  const found = await Promise.all(ENGINE_SOCKETS.map((name) => statOf(join(directory, name))))
  return found.some((entry) => entry?.isSocket())
}

const statOf = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined)

/** As far as the path exists; what does not exist has no links. */
async function resolveLinks(path: string): Promise<string> {
  for (let existing = path; ; existing = dirname(existing)) {
    const real = await realpath(existing).catch(() => undefined)
    if (real !== undefined) return join(real, path.slice(existing.length))
    if (existing === dirname(existing)) return path
  }
}

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)

function refuse(spec: string, why: string): never {
  const shown = spec.length > SHOWN_LENGTH ? `${spec.slice(0, SHOWN_LENGTH)}…` : spec
  throw new AppError('bad_request', `Invalid mount '${shown.replaceAll('\0', '\\0')}': ${why}`)
}
