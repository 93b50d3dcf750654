// Builds the agent into packages/agent/dist, the directory that is mounted at /opt/svc in every workspace:
//
//     node           the pinned Node, so that images need none
//     agent.mjs      the agent
//     emulator.mjs   what knows the screens of the terminals, loaded when it is needed
//     pty.node       the native part of the terminals
//
// It is put together beside and swapped in by name, so that running workspaces keep the one they were started with.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '../..')
const dist = join(folder, 'dist')
const stampName = '.built-from'

/** Builds the agent, unless the one in dist/ was built from these very sources. `step` shows that it takes a moment. */
export async function ensureAgent(step = (_title, work) => work()) {
  if (!isBuilt()) await step('Building the agent', build)
}

function isBuilt() {
  const stamp = join(dist, stampName)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digestOfSources()
}

async function build() {
  const draft = join(folder, `dist.new-${process.pid}`)
  const old = join(folder, `dist.old-${process.pid}`)
  try {
    mkdirSync(draft, { mode: 0o755 })
    chmodSync(draft, 0o755)
    const stamp = digestOfSources()
    await bundle(draft)
    placeFile(join(root, `node_modules/node-linux-${process.arch}/bin/node`), join(draft, 'node'), 0o755)
    placeFile(
      join(root, `node_modules/@lydell/node-pty-linux-${process.arch}/pty.node`),
      join(draft, 'pty.node'),
      0o644,
    )
    writeFileSync(join(draft, stampName), stamp, { mode: 0o644 })
    swapIn(draft, old)
  } finally {
    rmSync(draft, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
}

/** Another build may be at the same place at the same time; then the later one stays. */
function swapIn(draft, old) {
  for (let tries = 0; ; tries++) {
    try {
      if (existsSync(dist)) renameSync(dist, old)
      return renameSync(draft, dist)
    } catch (error) {
      if (tries === 10) throw error
      rmSync(old, { recursive: true, force: true })
    }
  }
}

async function bundle(target) {
  const { rolldown } = await import('rolldown')
  const bundled = await rolldown({
    input: join(folder, 'src/main.ts'),
    platform: 'node',
    // Schemas are the server's side of the protocol; what only they use stays out.
    treeshake: { moduleSideEffects: false, manualPureFunctions: ['z'] },
  })
  await bundled.write({
    dir: target,
    format: 'esm',
    entryFileNames: 'agent.mjs',
    chunkFileNames: '[name].mjs',
    minify: { compress: true, mangle: false, codegen: true },
  })
  await bundled.close()
  for (const name of readdirSync(target)) chmodSync(join(target, name), 0o644)
}

/** A link costs no space; another file system needs a copy. */
function placeFile(from, to, mode) {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
    chmodSync(to, mode)
  }
}

function digestOfSources() {
  const files = [
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
    ...filesBelow(join(folder, 'src')),
    ...filesBelow(join(root, 'packages/protocol/src')),
  ]
  const hash = createHash('sha256')
  for (const file of files) hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

function filesBelow(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\/testing\/|\.test\.ts$/.test(file))
    .sort()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureAgent()
