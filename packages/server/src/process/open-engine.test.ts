import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadSettings } from '../config/load-settings.ts'
import { findSocket, socketCandidates } from '../engine/docker/find-socket.ts'
import { systemClock } from '../kernel/clock.ts'
import { engineKinds } from '../testing/engines.ts'
import { MemoryLog } from '../testing/memory-log.ts'
import { daemonEnv, scratchFolder } from '../testing/start-daemon.ts'
import { openEngine } from './open-engine.ts'

/** A machine without any socket of an engine to find, as far as the environment goes. */
async function open(changes: Record<string, string>) {
  const folder = await scratchFolder()
  const { settings } = await loadSettings({ env: { ...daemonEnv(folder), ...changes }, config: undefined })
  const log = new MemoryLog()
  const environment = { PATH: process.env.PATH, HOME: folder, ...changes }
  const engine = await openEngine(settings, { instanceId: 'open-engine-test', clock: systemClock, log, environment })
  onTestFinished(() => engine.close())
  return { engine, log }
}

const kind = (name: string) => engineKinds.find((candidate) => candidate.name === name)
const hasPodman = kind('podman')?.missing === undefined
const hasLocal = kind('local')?.missing === undefined
/** An engine that listens where all do would be found by every test. */
const isAlone = (await findSocket(socketCandidates({}, process.getuid?.() ?? 0))) === undefined
const nothing = { SVCD_PODMAN_BIN: '/no/such/podman', CONTAINER_HOST: '', DOCKER_HOST: '' }
const passwords = { SVCD_AUTH_MODES: 'password', SVCD_DEFAULT_PASSWORD: 'correct horse battery' }

test.skipIf(!hasPodman)('auto takes a container engine, and starts Podman when none is running', async () => {
  const { engine } = await open({})
  expect(engine.name).toMatch(/^(Podman|Docker) \d/)
  expect(engine.supports.images).toBe(true)
})

test.skipIf(!hasLocal)(
  'without one it runs workspaces locally for one person alone, and says what that means',
  async () => {
    const { engine, log } = await open(nothing)
    expect(engine.supports.images).toBe(false)
    expect(log.records.map(({ message }) => message).join('\n')).toContain('share the network of the host')
  },
)

test.skipIf(!isAlone)('where several people sign in it refuses that, and says what to install', async () => {
  const opening = open({ ...nothing, ...passwords })
  await expect(opening).rejects.toMatchObject({ name: 'ConfigError' })
  await expect(opening).rejects.toThrow(/SVCD_ENGINE is auto, and no container engine was found .*install Podman/)
})

test.skipIf(!hasLocal)('the local engine is used for several people when it is asked for by name', async () => {
  const { engine } = await open({ ...passwords, SVCD_ENGINE: 'local' })
  expect(engine.supports.userNamespaces).toBe(false)
})

test.skipIf(!isAlone)('a container engine that was asked for and does not answer may answer later', async () => {
  const opening = open({ ...nothing, SVCD_ENGINE: 'docker' })
  await expect(opening).rejects.toMatchObject({ name: 'EngineUnavailable' })
  await expect(opening).rejects.toThrow('/no/such/podman cannot serve its API')
})

test('a cluster is refused: that is not built', async () => {
  await expect(open({ SVCD_ENGINE: 'kubernetes' })).rejects.toMatchObject({ name: 'ConfigError' })
})

test('an agent that was never built is told at the start', async () => {
  const folder = await scratchFolder()
  const { settings } = await loadSettings({
    env: { ...daemonEnv(folder), SVCD_ENGINE: 'kubernetes' },
    config: undefined,
  })
  const log = new MemoryLog()
  const agentDir = join(folder, 'no-agent')
  await openEngine(settings, { instanceId: 'x', clock: systemClock, log, agentDir }).catch(() => undefined)
  expect(log.records[0]?.message).toContain('there is no agent in')
})
