// The image on top of a Debian image of a registry, by the engine's own build.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LABEL } from './engine-command.mjs'
import { runQuietly } from './run-quietly.mjs'

/** The full image, not the slim one: that leaves out manual pages. */
export const DEFAULT_BASE = 'debian:bookworm'
const REGISTRY_ANSWERS_WITHIN_MS = 10_000

/** Whether a registry has the default base. Asks for its list of contents only. */
export function registryAnswers(engine) {
  const { status } = spawnSync(engine, ['manifest', 'inspect', DEFAULT_BASE], { timeout: REGISTRY_ANSWERS_WITHIN_MS })
  return status === 0
}

export async function buildFromRegistry({ engine, image, digest, context, base, progress }) {
  progress.stage(`building on ${base}`)
  const args = [...engineOptions(engine), '--network=host', '--tag', image, '--label', `${LABEL}=${digest}`]
  args.push('--build-arg', `BASE=${base}`, '--file', join(context, 'Dockerfile'), context)
  await runQuietly(engine, args, {
    onLine: (line) => {
      if (/(^|\s)(Get:\d|Unpacking |Setting up )/.test(line)) progress.count()
    },
  })
}

function engineOptions(engine) {
  if (engine === 'docker') return ['build']
  // Where both versions of control groups are mounted, Podman's usual runtime refuses and the other works.
  const types = new Set(
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[2]),
  )
  const runtime = types.has('cgroup') && types.has('cgroup2') ? ['--runtime=runc'] : []
  // One layer, and a build that fails leaves none.
  return [...runtime, 'build', '--layers=false']
}
