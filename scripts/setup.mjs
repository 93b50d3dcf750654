// Brings a checkout to the point where its own tools can run. Plain JavaScript for any Node >= 20.19, because it runs
// before anything is installed. Each step looks first, and does nothing when there is nothing to do.
import { spawn, spawnSync } from 'node:child_process'
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

/** What some tests need beside Node: how to tell that it is there, and Debian's packages for it. */
const programs = [
  { name: 'OpenSSL', packages: ['openssl'], isThere: () => spawnSync('openssl', ['version']).status === 0 },
  { name: 'PostgreSQL', packages: ['postgresql'], isThere: hasPostgres },
  // A browser without a font draws nothing that could be looked at.
  { name: 'Chromium', packages: ['chromium', 'fonts-dejavu-core'], isThere: () => existsSync('/usr/bin/chromium') },
]

/**
 * Installs the programs that are missing, where we may. Answers the names of those that are still missing; the tests
 * that need them skip by name.
 */
export async function ensurePrograms() {
  const missing = programs.filter(({ isThere }) => !isThere())
  const mayInstall = process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0
  if (missing.length > 0 && mayInstall) {
    await step(`Installing ${missing.map(({ name }) => name).join(' and ')} from Debian's packages`, async () => {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      const quiet = { env, stdio: ['ignore', 'ignore', 'inherit'] }
      await run('apt-get', ['update', '-q'], quiet)
      const packages = missing.flatMap((program) => program.packages)
      await run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], quiet)
    })
  }
  return programs.filter(({ isThere }) => !isThere()).map(({ name }) => name)
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
