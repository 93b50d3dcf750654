import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { PodmanService } from './podman-service.ts'

/** Longer than the waits of a start, so that the test decides when it is time for another one. */
const RESTART_MS = 100

/** In the place of Podman: says that it was started, and listens. */
const program = (starts: string) => `#!${process.execPath}
require('node:fs').appendFileSync(${JSON.stringify(starts)}, process.pid + ' ')
require('node:net').createServer().listen(process.argv.at(-1).replace('unix://', ''))
`

test('a service that is stopped while it is being started again stays stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-podman-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [binary, starts] = [join(folder, 'podman.cjs'), join(folder, 'starts')]
  await writeFile(binary, program(starts))
  await chmod(binary, 0o755)
  const restart = Promise.withResolvers<() => void>()
  const clock: Clock = {
    nowMs: systemClock.nowMs,
    after(delayMs, work) {
      if (delayMs < RESTART_MS || delayMs >= 1000) return systemClock.after(delayMs, work)
      restart.resolve(work)
      return () => {}
    },
  }
  const log = new MemoryLog()
  const service = await PodmanService.start({
    binary,
    folder: join(folder, 'run'),
    runtime: undefined,
    environment: {},
    clock,
    log,
  })
  const first = service.pid ?? 0
  process.kill(first, 'SIGKILL')
  const startAgain = await restart.promise
  startAgain()
  await service.stop()
  expect([service.pid, await readFile(starts, 'utf8')]).toEqual([first, `${first} `])
  expect(log.records.map(({ message }) => message)).toEqual(['the Podman service ended; starting it again'])
})
