// Brings a checkout to the point where its own tools can run. Plain JavaScript for any Node >= 20.19, because it runs
// before anything is installed. Each step looks first, and does nothing when there is nothing to do.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules', '.bin')
/** The Node that the lock file pins. Everything but this set-up runs on it. */
export const node = join(bin, 'node')

/** The environment in which `node` and the installed tools are found first. */
export const toolEnv = { ...process.env, PATH: `${bin}:${process.env.PATH}` }

/** Runs a command with its output shown; resolves with its exit code. */
export function run(command, args, options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: toolEnv, ...options })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** Does `work` under a heading, and says how long it took. */
export async function step(title, work) {
  const began = performance.now()
  console.log(`▸ ${title} …`)
  const result = await work()
  console.log(`  ${title}: done in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return result
}

async function must(command, args, options) {
  const code = await run(command, args, options)
  if (code !== 0) {
    console.error(`\n${[command, ...args].join(' ')} failed with exit code ${code}`)
    process.exit(1)
  }
}

/** Installs what package-lock.json says, unless just that is installed already. */
export async function ensureDependencies() {
  const stamp = join(root, 'node_modules', '.svc-installed')
  const wanted = digestOf([join(root, 'package-lock.json')])
  if (readStamp(stamp) === wanted && existsSync(node)) return
  await step('Installing the dependencies of the lock file', () =>
    must('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { env: process.env }),
  )
  if (!existsSync(node)) {
    console.error(
      `svc runs on Linux x64 and arm64; there is no Node for ${process.platform} ${process.arch} in the lock file`,
    )
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

/** Builds the browser UI, unless the one in dist/ was built from these very sources. */
export async function ensureWebUi() {
  const stamp = join(root, 'packages/web/dist/.built-from')
  const sources = ['web', 'client', 'protocol'].flatMap((name) => filesBelow(join(root, 'packages', name)))
  const wanted = digestOf([join(root, 'package-lock.json'), ...sources])
  if (readStamp(stamp) === wanted) return
  await step('Building the web UI', () =>
    must(node, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel=warn'], {
      cwd: join(root, 'packages/web'),
    }),
  )
  writeFileSync(stamp, wanted)
}

/** Builds the program that runs inside each workspace, unless it was built from these very sources. */
export async function ensureAgent() {
  // Loaded late: before the dependencies are installed it may not be possible.
  const agent = await import('../packages/agent/build.mjs')
  await agent.ensureAgent(step)
}

/**
 * Sees to it that the container engine has the image of workspaces. Answers undefined, or a sentence that says why it has
 * not: the server starts without it.
 */
export async function ensureWorkspaceImage() {
  const { ensureImage } = await import('./build-image.mjs')
  const { Interrupted } = await import('./image/run-quietly.mjs')
  return ensureImage().catch((error) => {
    if (error instanceof Interrupted) process.exit(1)
    return error.message
  })
}

/**
 * With what Podman only recommends, or calls without saying so: two runtimes, because each refuses machines on which the
 * other works, and iptables, with which it makes networks.
 */
const podmanPackages = 'podman crun runc netavark aardvark-dns iptables nftables uidmap catatonit'.split(' ')

/**
 * What is needed beside Node: how to tell that it is there, and Debian's packages for it. Looking costs no process, so
 * that a second start pays nothing for it.
 */
const programs = {
  engine: {
    name: 'Podman',
    packages: podmanPackages,
    isThere: () => hasCommand('podman') || hasDocker(),
  },
  imageBuilder: { name: 'mmdebstrap', packages: ['mmdebstrap'], isThere: () => hasCommand('mmdebstrap') },
  sandbox: { name: 'Bubblewrap', packages: ['bubblewrap'], isThere: () => hasCommand('bwrap') },
  podman: {
    name: 'Podman',
    packages: podmanPackages,
    isThere: () => ['podman', 'runc', 'iptables', 'nft', 'newuidmap'].every(hasCommand),
  },
  // Only its programs: tests start a daemon of their own, and leave the machine's alone.
  docker: { name: 'Docker', packages: ['docker.io'], isThere: () => hasCommand('dockerd') && hasCommand('docker') },
  // The package would start a service where that is possible; tests start one of their own.
  registry: {
    name: 'Docker Registry',
    packages: ['docker-registry'],
    isThere: () => existsSync('/usr/bin/docker-registry'),
  },
  // What people use from their own machines: tests sync with the one and sign with the other.
  rsync: { name: 'rsync', packages: ['rsync'], isThere: () => hasCommand('rsync') },
  ssh: { name: 'OpenSSH', packages: ['openssh-client'], isThere: () => hasCommand('ssh-agent') },
  openssl: { name: 'OpenSSL', packages: ['openssl'], isThere: () => hasCommand('openssl') },
  postgres: { name: 'PostgreSQL', packages: ['postgresql'], isThere: hasPostgres },
  // A browser without a font draws nothing that could be looked at.
  chromium: {
    name: 'Chromium',
    packages: ['chromium', 'fonts-dejavu-core'],
    isThere: () => existsSync('/usr/bin/chromium'),
  },
}

const forStart = [programs.engine, programs.imageBuilder, programs.sandbox]
const { podman, imageBuilder, sandbox, docker, registry, rsync, ssh, openssl, postgres, chromium } = programs
const forTests = [podman, imageBuilder, sandbox, docker, registry, rsync, ssh, openssl, postgres, chromium]

/** What runs workspaces. Answers whether there is an engine, and the packages that are missing still. */
export async function ensureEngine() {
  const missing = await installMissing(forStart)
  return { isThere: programs.engine.isThere(), missing: missing.flatMap(({ packages }) => packages) }
}

/** What tests need. Answers the names of those that are still missing; the tests that need them skip by name. */
export async function ensurePrograms() {
  return (await installMissing(forTests)).map(({ name }) => name)
}

/** Installs the programs that are missing, where we may, and answers those that are missing still. */
async function installMissing(wanted) {
  const missing = wanted.filter(({ isThere }) => !isThere())
  if (missing.length > 0 && process.getuid?.() === 0 && hasCommand('apt-get')) {
    await step(`Installing ${missing.map(({ name }) => name).join(' and ')} from Debian's packages`, async () => {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      const quiet = { env, stdio: ['ignore', 'ignore', 'inherit'] }
      await run('apt-get', ['update', '-q'], quiet)
      const packages = missing.flatMap((program) => program.packages)
      await run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], quiet)
    })
  }
  return missing.filter(({ isThere }) => !isThere())
}

/** Debian keeps some programs where only root looks. */
function hasCommand(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']
  return folders.some((folder) => existsSync(join(folder, name)))
}

/** An engine is here already, if Docker or a socket of somebody's choice is. */
function hasDocker() {
  const { CONTAINER_HOST, DOCKER_HOST } = process.env
  return Boolean(CONTAINER_HOST || DOCKER_HOST) || existsSync('/var/run/docker.sock')
}

function hasPostgres() {
  const versions = '/usr/lib/postgresql'
  return (
    existsSync(versions) && readdirSync(versions).some((version) => existsSync(`${versions}/${version}/bin/initdb`))
  )
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(node_modules|dist)\/|\.test\.tsx?$/.test(path))
    .sort()
}

function digestOf(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
