// The image from Debian's packages, without any registry: mmdebstrap makes the file system, the engine imports it.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aptOptions, debianSources, SUITE } from './debian-sources.mjs'
import { LABEL } from './engine-command.mjs'
import { packageNames } from './inputs.mjs'
import { runQuietly } from './run-quietly.mjs'

/** What mmdebstrap, apt and dpkg write when a stage begins. */
const stages = [
  [/^I: running apt-get update/, 'reading the package lists'],
  [/^I: downloading packages/, 'fetching the base system'],
  [/^I: extracting archives/, 'installing the base system'],
  [/^I: installing remaining packages/, 'fetching the packages'],
  [/^I: running special hook: sync-in/, 'making it a workspace'],
  [/^I: creating tarball/, 'packing the file system'],
]
/** Each package is unpacked, then set up. */
const STEPS_PER_PACKAGE = 2

/** The setting of the image itself, the same as in the Dockerfile. */
const changes = [
  'ENV LANG=en_US.UTF-8',
  'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'WORKDIR /',
  'CMD ["/bin/bash"]',
]

/** A sentence about what is missing, or undefined when it can be done here. */
export function obstacleToPackages() {
  if (process.getuid?.() !== 0) return 'it has to be run as root to be built from Debian packages'
  if (spawnSync('mmdebstrap', ['--version']).status !== 0) {
    return 'mmdebstrap is not installed (on Debian and Ubuntu: apt-get install mmdebstrap debian-archive-keyring)'
  }
  return undefined
}

export async function buildFromPackages({ engine, image, digest, context, scratch, progress }) {
  const archive = join(scratch, 'image.tar')
  await bootstrap({ archive, context, scratch, progress })
  progress.stage(`handing the image to ${engine}`)
  const options = [...changes, `LABEL ${LABEL}=${digest}`].flatMap((change) => ['--change', change])
  await runQuietly(engine, ['import', ...options, archive, image])
}

async function bootstrap({ archive, context, scratch, progress }) {
  const sources = debianSources()
  const list = join(scratch, 'sources.list')
  writeFileSync(list, `${sources.join('\n')}\n`)
  const args = [
    '--mode=root',
    '--variant=minbase',
    '--format=tar',
    '--verbose',
    // Engines make the devices themselves.
    '--skip=output/dev',
    // A build that is cut short is thrown away, so nothing needs to reach the disk early.
    '--dpkgopt=force-unsafe-io',
    ...aptOptions().map((option) => `--aptopt=${option}`),
    `--include=${packageNames().join(',')}`,
    `--customize-hook=sync-in ${join(context, 'rootfs')} /`,
    `--customize-hook=copy-in ${join(context, 'customize.sh')} /tmp`,
    '--customize-hook=chroot "$1" sh /tmp/customize.sh && rm "$1/tmp/customize.sh"',
    SUITE,
    archive,
    ...(sources.length > 0 ? [list] : []),
  ]
  const env = { ...process.env, TMPDIR: scratch, DEBIAN_FRONTEND: 'noninteractive' }
  // What it mounts, the host's /dev for one, is seen by nobody else and gone with it, however it ends.
  const apart = ['--mount', '--propagation=private', 'mmdebstrap']
  await runQuietly('unshare', [...apart, ...args], { env, onLine: stageReader(progress) })
}

/** Turns the output of the programs into stages and counts. */
function stageReader(progress) {
  let packages = 0
  let isFetching = true
  return (line) => {
    const title = stages.find(([pattern]) => pattern.test(line))?.[1] ?? laterStage(line)
    if (title) progress.stage(title)
    if (title) isFetching = !title.startsWith('installing')
    packages = Number(/(\d+) newly installed/.exec(line)?.[1] ?? packages)
    progress.expect(isFetching ? packages : packages * STEPS_PER_PACKAGE)
    if (isFetching ? /^Get:\d/.test(line) : /^(Unpacking|Setting up) /.test(line)) progress.count()
  }

  /** The second installation begins without saying so. */
  function laterStage(line) {
    return isFetching && /^Unpacking /.test(line) ? 'installing the packages' : undefined
  }
}
