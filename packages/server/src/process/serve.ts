import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type App, createApp } from '../app.ts'
import type { LoadedSettings } from '../config/load-settings.ts'
import type { Settings } from '../config/settings.ts'
import { SettingsHolder } from '../config/settings-holder.ts'
import type { ContainerEngine } from '../engine/container-engine.ts'
import { instanceId } from '../features/instance/instance-id.ts'
import { generatedSigningSecret } from '../features/instance/signing-secret.ts'
import { readBuild } from '../features/instance/version.ts'
import { ContainerPeers } from '../http/container-peers.ts'
import { Listener } from '../http/listener.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { Logging } from '../logging/logging.ts'
import type { Storage } from '../storage/storage.ts'
import { DataDirectoryLock, makePrivateDirectory, orUnusable } from './directories.ts'
import { startFailure } from './exit-codes.ts'
import { giveBackMemory } from './give-back-memory.ts'
import { logSettings, secretsIn } from './log-settings.ts'
import { openEngine } from './open-engine.ts'
import { openStorage } from './open-storage.ts'

const WEB_DIR = join(import.meta.dirname, '../../../web/dist')

export type StopReason = 'signal:SIGTERM' | 'signal:SIGINT' | 'forced-exit'

/** A server that is up. */
export interface Daemon {
  /** Where a browser finds it; undefined when it is headless. */
  readonly url: string | undefined
  /** Resolves when the database is lost for good: there is nothing left to serve. */
  readonly lost: Promise<Error>
  /** Reads the settings again; nothing changes when they are invalid. */
  reload(): Promise<void>
  /** Finishes what is under way, writes the last rows and lets go of everything. */
  stop(reason: StopReason): Promise<void>
  /** Only the last row, for an end that waits for nothing else. */
  noteEnd(reason: StopReason): Promise<void>
}

/** From the environment to a listening server. What was opened on the way is closed again when a later step fails. */
export async function serve(
  load: () => Promise<LoadedSettings>,
  ending: AbortSignal,
): Promise<{ daemon: Daemon; logging: Logging }> {
  const loaded = await load()
  const { directories } = loaded.settings
  await makePrivateDirectory(directories.stateDir, 'SVCD_STATE_DIR')
  await makePrivateDirectory(directories.dataDir, 'SVCD_DATA_DIR')
  const instance = await orUnusable('SVCD_DATA_DIR', directories.dataDir, () => instanceId(directories.dataDir))
  const signingSecret = await orUnusable('SVCD_STATE_DIR', directories.stateDir, () =>
    generatedSigningSecret(directories.stateDir),
  )
  const allSecrets = (settings: Settings) => [signingSecret, ...secretsIn(settings)]
  const secrets = { all: allSecrets(loaded.settings) }
  const logging = new Logging({
    ...logSettings(loaded.settings, instance),
    clock: systemClock,
    secrets: () => secrets.all,
  })
  const log = logging.root
  const holder = new SettingsHolder({ loaded, load, logger: log })
  holder.onChange((settings) => {
    secrets.all = allSecrets(settings)
    logging.reconfigure(logSettings(settings, instance))
  })
  try {
    for (const warning of loaded.warnings) log.warning(warning)
    const daemon = await start(holder, logging, { instance, signingSecret }, ending)
    return { daemon, logging }
  } catch (error) {
    // Beside the sentence on standard error, so that the log file of an unattended server has the reason too.
    const failure = startFailure(error)
    if (failure) log.error(`cannot start: ${failure.message}`, { exit_code: failure.code })
    else if (ending.aborted) log.info('told to stop before the start was done')
    else log.critical('cannot start', { error })
    await logging.close()
    throw error
  }
}

async function start(
  holder: SettingsHolder,
  logging: Logging,
  { instance, signingSecret }: { instance: string; signingSecret: string },
  ending: AbortSignal,
): Promise<Daemon> {
  const log = logging.root
  const settings = holder.current()
  await using undo = new AsyncDisposableStack()
  const { stateDir, dataDir } = settings.directories
  const lock = await DataDirectoryLock.acquire(dataDir, join(stateDir, `svc-${instance}.pid`))
  undo.defer(() => lock.release())
  const lost = Promise.withResolvers<Error>()
  const storage = await openStorage(settings, { clock: systemClock, log, onLost: lost.resolve, ending })
  undo.defer(() => storage.close())
  const engine = await openEngine(settings, { instanceId: instance, log, clock: systemClock })
  undo.defer(() => engine.close())
  let build = await readBuild(settings.directories.versionFile, log)
  holder.onChange(async ({ directories }) => {
    build = await readBuild(directories.versionFile, log)
  })
  const ports = {
    storage,
    engine,
    clock: systemClock,
    log,
    instanceId: instance,
    dataDir,
    signingSecret,
    build: () => build,
    webDir: WEB_DIR,
  }
  warnWithoutWebUi(settings.directories.frontendDir ?? WEB_DIR, log)
  const app = await createApp(() => holder.current(), ports)
  undo.defer(() => app.stop())
  await app.start()
  holder.addCheck(app.checkSettings)
  holder.onChange(() => app.settingsChanged())
  giveBackMemory()
  const containers = new ContainerPeers({
    configured: () => holder.current().egress.containerSubnets,
    known: () => engine.containerSubnets,
  })
  const listeners = await listen(app, holder, { log, ending, isKeptOut: (peer) => containers.has(peer) })
  undo.defer(async () => {
    await Promise.all(listeners.map((listener) => listener.close(0)))
  })
  const url = browserUrl(holder)
  await app.audit.recordOwn({
    event: 'app.start',
    targetType: 'app',
    targetId: instance,
    detail: { version: build.version, pid: process.pid, listener: url ?? settings.network.socket },
  })
  log.info(url ? `listening on ${url}` : 'listening on the private socket only: SVCD_PORT is not set')
  undo.move()
  return daemon({ app, holder, logging, listeners, lock, storage, engine, instance, url, lost: lost.promise })
}

/** The browser's address first: it may have to be waited for, and nothing should be answered before all is. */
async function listen(
  app: App,
  holder: SettingsHolder,
  { log, ending, isKeptOut }: { log: Logger; ending: AbortSignal; isKeptOut: (peer: string) => boolean },
): Promise<Listener[]> {
  const { socket, listen: host, port } = holder.current().network
  await makePrivateDirectory(dirname(socket), 'SVCD_SOCKET')
  await using opened = new AsyncDisposableStack()
  const listeners: Listener[] = []
  for (const address of [...(port === undefined ? [] : [{ host, port }]), { socketPath: socket }]) {
    const listener = new Listener({
      handler: app.handler,
      upgrade: app.upgrade,
      clock: systemClock,
      log: log.child('listener'),
      isKeptOut,
    })
    await listener.listen(address, ending)
    opened.defer(() => listener.close(0))
    listeners.push(listener)
  }
  opened.move()
  return listeners
}

function warnWithoutWebUi(folder: string, log: Logger): void {
  if (!existsSync(join(folder, 'index.html')))
    log.warning(`there is no web interface in ${folder}: only the API answers`)
}

function browserUrl(holder: SettingsHolder): string | undefined {
  const { listen: host, port } = holder.current().network
  if (port === undefined) return undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`
}

function daemon(parts: {
  app: App
  holder: SettingsHolder
  logging: Logging
  listeners: readonly Listener[]
  lock: DataDirectoryLock
  storage: Storage
  engine: ContainerEngine
  instance: string
  url: string | undefined
  lost: Promise<Error>
}): Daemon {
  const { app, holder, logging, listeners, lock, storage, engine, instance, url, lost } = parts
  const log = logging.root
  const own = { targetType: 'app', targetId: instance } as const
  const startedMs = systemClock.nowMs()
  let lastReload = Promise.resolve()

  async function reload(): Promise<void> {
    try {
      const { changed, needsRestart, warnings } = await holder.reload()
      for (const warning of warnings) log.warning(warning)
      if (needsRestart.length > 0) log.warning(`changed, but only a restart applies it: ${needsRestart.join(', ')}`)
      log.info(changed.length > 0 ? `reloaded; changed: ${changed.join(', ')}` : 'reloaded; nothing changed')
      await app.audit.recordOwn({ ...own, event: 'app.reload', detail: { source: 'SIGHUP', changed } })
    } catch (error) {
      const denied = 'not reloaded, the last good configuration stays in effect'
      const failure = startFailure(error)
      if (failure) log.error(`${denied}. ${failure.message.replaceAll(/\n\s*/g, ' ')}`)
      else log.error(denied, { error })
    }
  }

  let isEndNoted = false
  async function noteEnd(reason: StopReason): Promise<void> {
    if (isEndNoted) return
    isEndNoted = true
    const uptime = Math.round((systemClock.nowMs() - startedMs) / 1000)
    await app.audit.recordOwn({ ...own, event: 'app.stop', detail: { pid: process.pid, uptime, reason } })
  }

  return {
    url,
    lost,
    noteEnd,
    reload() {
      lastReload = lastReload.then(reload)
      return lastReload
    },
    async stop(reason) {
      log.info(`stopping (${reason})`)
      await lastReload // its audit row needs the storage
      app.announceEnd()
      const graceMs = holder.current().network.quiesceTimeoutSeconds * 1000
      await Promise.all(listeners.map((listener) => listener.close(graceMs)))
      await app.drain()
      await app.stop()
      await engine.close()
      await noteEnd(reason)
      await storage.close()
      await lock.release()
      log.info('stopped')
      await logging.close()
    },
  }
}
