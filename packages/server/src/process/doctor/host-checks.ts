import { stat, statfs } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProgram } from '../../engine/local/run-program.ts'
import { systemClock } from '../../kernel/clock.ts'
import { type Check, type DoctorContext, type Finding, ok } from './check.ts'
import { judgeClock } from './judge-clock.ts'
import { type DiskFacts, judgeDisk } from './judge-disk.ts'

export const hostChecks: readonly Check[] = [
  { name: 'data directory', run: ({ settings }) => checkDisk(settings.directories.dataDir) },
  { name: 'state directory', run: ({ settings }) => checkDisk(settings.directories.stateDir) },
  { name: 'engine storage', run: checkEngineStorage },
  { name: 'clock', run: checkClock },
]

async function checkDisk(path: string): Promise<Finding> {
  return judgeDisk(await diskFacts(path))
}

async function checkEngineStorage({ isRoot }: DoctorContext): Promise<Finding> {
  const own = join(homedir(), '.local/share/containers')
  const places = [...(isRoot ? [] : [own]), '/var/lib/containers', '/var/lib/docker']
  for (const place of places) {
    if (await exists(place)) return checkDisk(place)
  }
  return ok('no engine keeps anything here yet')
}

async function checkClock(): Promise<Finding> {
  const { code, output } = await runProgram('timedatectl', ['show', '--property=NTPSynchronized', '--value'])
  const answer = code === 0 ? output.trim() : ''
  const isSynchronised = answer === 'yes' ? true : answer === 'no' ? false : undefined
  return judgeClock(systemClock.nowMs(), isSynchronised)
}

/** Of the nearest directory that is there: the server makes the rest. */
async function diskFacts(path: string): Promise<DiskFacts> {
  if (path !== '/' && !(await exists(path))) return diskFacts(dirname(path))
  const { bavail, bsize, ffree, files } = await statfs(path)
  return { path, freeBytes: bavail * bsize, freeFiles: files === 0 ? undefined : ffree }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
