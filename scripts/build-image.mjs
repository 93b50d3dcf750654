// `npm run image`: builds the image of workspaces and puts it into the container engine. Nothing is done when the
// engine has it already, made from the same inputs. See docs/how-to/workspace-image.md.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findEngine } from './image/engine-command.mjs'
import { buildFromPackages, obstacleToPackages } from './image/from-packages.mjs'
import { buildFromRegistry, DEFAULT_BASE, registryAnswers } from './image/from-registry.mjs'
import { digestOfInputs, prepareContext } from './image/inputs.mjs'
import { Progress } from './image/progress.mjs'
import { runQuietly } from './image/run-quietly.mjs'
import { ensureDependencies, step } from './setup.mjs'

export const IMAGE = 'svc-workspace:latest'

/** What the image takes twice over, unpacked and packed, is too much for a /tmp in memory. */
const SCRATCH = process.env.TMPDIR || '/var/tmp'

/**
 * Sees to it that the engine has the image, made from the present inputs. Answers undefined, or a sentence that says why
 * it could not be done.
 */
export async function ensureImage({ image = IMAGE, engines, fresh = false } = {}) {
  const engine = findEngine(image, engines)
  if (!engine) return 'there is no container engine that answers: install podman, or start docker'
  const base = process.env.SVC_BASE_IMAGE || undefined
  const digest = digestOfInputs(base)
  if (engine.digest === digest && !fresh) return undefined
  const copied = await copyFromPodman({ engine, image, digest, fresh })
  if (copied) return undefined
  const way = chooseWay(engine.command, base)
  if (way.obstacle) return way.obstacle
  await step(`Building the workspace image ${image} with ${engine.command} ${way.title}`, () =>
    build({ way, engine: engine.command, image, digest }),
  )
  await forgetOld(engine)
  return undefined
}

/** Packages come first: they need no registry, and use the mirror and the proxy this machine is set up for. */
function chooseWay(engine, base) {
  if (base) return { title: `on ${base}`, base }
  const obstacle = obstacleToPackages()
  if (!obstacle) return { title: 'from Debian packages' }
  if (registryAnswers(engine)) return { title: `on ${DEFAULT_BASE}`, base: DEFAULT_BASE }
  return { obstacle: `${obstacle}, and no registry answers with ${DEFAULT_BASE}` }
}

async function build({ way, ...what }) {
  mkdirSync(SCRATCH, { recursive: true })
  const scratch = mkdtempSync(join(SCRATCH, 'svc-image-'))
  const progress = new Progress()
  try {
    const context = join(scratch, 'context')
    progress.stage('gathering Node, npm and our files')
    prepareContext(context)
    if (way.base) await buildFromRegistry({ ...what, base: way.base, context, progress })
    else await buildFromPackages({ ...what, context, scratch, progress })
  } finally {
    progress.finish()
    // Never across a mount, whatever the builder left in there.
    spawnSync('rm', ['-rf', '--one-file-system', scratch])
  }
}

/** A second engine on the machine takes the image over from Podman, which is faster than building it again. */
async function copyFromPodman({ engine, image, digest, fresh }) {
  if (engine.command === 'podman' || fresh) return false
  const podman = findEngine(image, ['podman'])
  if (podman?.digest !== digest) return false
  // It arrives under Podman's name for it, which nobody asked for.
  const script =
    'set -o pipefail; podman save --format docker-archive "$1" | "$2" load && "$2" tag "$3" "$1" && { "$2" rmi "localhost/$1" || true; }'
  await step(`Copying the workspace image from podman to ${engine.command}`, () =>
    runQuietly('bash', ['-c', script, 'copy', image, engine.command, podman.id]),
  )
  await forgetOld(engine)
  return true
}

/** The image that had the name before. It stays when a container uses it or somebody gave it another name. */
async function forgetOld({ command, id }) {
  const { stdout } = spawnSync(command, ['image', 'inspect', '--format', '{{len .RepoTags}}', id ?? ''], {
    encoding: 'utf8',
  })
  if (stdout.trim() === '0') await runQuietly(command, ['rmi', id]).catch(() => undefined)
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { engine: { type: 'string' }, name: { type: 'string' }, fresh: { type: 'boolean' } },
  })
  await ensureDependencies()
  const obstacle = await ensureImage({
    image: values.name ?? IMAGE,
    engines: values.engine && [values.engine],
    fresh: values.fresh,
  }).catch((error) => error.message)
  if (obstacle) console.error(`The workspace image was not built: ${obstacle}`)
  else console.log(`The workspace image ${values.name ?? IMAGE} is up to date`)
  process.exit(obstacle ? 1 : 0)
}
