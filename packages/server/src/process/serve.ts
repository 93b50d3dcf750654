import { dirname, join } from 'node:path'
import { type App, createApp } from '../app.ts'
import { ConfigError } from '../config/config-error.ts'
import type { LoadedSettings } from '../config/load-settings.ts'
import { SettingsHolder } from '../config/settings-holder.ts'
import { instanceId } from '../features/instance/instance-id.ts'
import { readBuild } from '../features/instance/version.ts'
import { Listener } from '../http/listener.ts'
import { systemClock } from '../kernel/clock.ts'
import { Logging } from '../logging/logging.ts'
import type { Storage } from '../storage/storage.ts'
import { DataDirectoryLock, makePrivateDirectory } from './directories.ts'
import { exitCodes, startFailure } from './exit-codes.ts'
import { logSettings, secretsIn } from './log-settings.ts'
import { openStorage } from './open-storage.ts'

const WEB_DIR = join(import.meta.dirname, '../../../web/dist')

export type StopReason = 'signal:SIGTERM' | 'signal:SIGINT'

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
}

/** From the environment to a listening server. What was opened on the way is closed again when a later step fails. */
export async function serve(load: () => Promise<LoadedSettings>): Promise<{ daemon: Daemon; logging: Logging }> {
  const loaded = await load()
  const { directories } = loaded.settings
  await makePrivateDirectory(directories.stateDir, 'SVCD_STATE_DIR')
  await makePrivateDirectory(directories.dataDir, 'SVCD_DATA_DIR')
  const instance = await instanceId(directories.dataDir)
  const secrets = { all: secretsIn(loaded.settings) }
  const logging = new Logging({
    ...logSettings(loaded.settings, instance),
    clock: systemClock,
    secrets: () => secrets.all,
  })
  const log = logging.root
  const holder = new SettingsHolder({ loaded, load, logger: log })
  holder.onChange((settings) => {
    secrets.all = secretsIn(settings)
    logging.reconfigure(logSettings(settings, instance))
  })
  try {
    for (const warning of loaded.warnings) log.warning(warning)
    const daemon = await start(holder, logging, instance)
    return { daemon, logging }
  } catch (error) {
    // Beside the sentence on standard error, so that the log file of an unattended server has the reason too.
    const failure = startFailure(error)
    if (failure) log.error(`cannot start: ${failure.message}`, { exit_code: failure.code })
    else log.critical('cannot start', { error })
    await logging.close()
    throw error
  }
}

async function start(holder: SettingsHolder, logging: Logging, instance: string): Promise<Daemon> {
  const log = logging.root
  const settings = holder.current()
  await using undo = new AsyncDisposableStack()
  const { stateDir, dataDir } = settings.directories
  const lock = await DataDirectoryLock.acquire(dataDir, join(stateDir, `svc-${instance}.pid`))
  undo.defer(() => lock.release())
  const lost = Promise.withResolvers<Error>()
  const storage = await openStorage(settings, { clock: systemClock, log, onLost: lost.resolve })
  undo.defer(() => storage.close())
  const build = await readBuild(settings.directories.versionFile, log)
  const ports = { storage, clock: systemClock, log, instanceId: instance, build, webDir: WEB_DIR }
  const app = await createApp(() => holder.current(), ports)
  undo.defer(() => app.stop())
  await app.start()
  const listeners = await listen(app, holder, log)
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
  return daemon({ app, holder, logging, listeners, lock, storage, instance, url, lost: lost.promise })
}

async function listen(app: App, holder: SettingsHolder, log: Logging['root']): Promise<Listener[]> {
  const { socket, listen: host, port } = holder.current().network
  const parts = { handler: app.http.routing, clock: systemClock, log: log.child('listener') }
  await makePrivateDirectory(dirname(socket), 'SVCD_SOCKET')
  const privateSocket = new Listener(parts)
  await privateSocket.listen({ socketPath: socket })
  if (port === undefined) return [privateSocket]
  const browser = new Listener(parts)
  try {
    await browser.listen({ host, port })
  } catch (error) {
    await privateSocket.close(0)
    throw error
  }
  return [privateSocket, browser]
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
  instance: string
  url: string | undefined
  lost: Promise<Error>
}): Daemon {
  const { app, holder, logging, listeners, lock, storage, instance, url, lost } = parts
  const log = logging.root
  const own = { targetType: 'app', targetId: instance } as const
  const startedMs = systemClock.nowMs()
  return {
    url,
    lost,
    async reload() {
      try {
        const { changed, needsRestart, warnings } = await holder.reload()
        for (const warning of warnings) log.warning(warning)
        if (needsRestart.length > 0) log.warning(`changed, but only a restart applies it: ${needsRestart.join(', ')}`)
        log.info(changed.length > 0 ? `reloaded; changed: ${changed.join(', ')}` : 'reloaded; nothing changed')
        await app.audit.recordOwn({ ...own, event: 'app.reload', detail: { trigger: 'sighup', changed } })
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        const reason = error.message.replaceAll(/\n\s*/g, ' ')
        log.error(`not reloaded, the last good configuration stays in effect. ${reason}`)
      }
    },
    async stop(reason) {
      log.info(`stopping (${reason})`)
      const graceMs = holder.current().network.quiesceTimeoutSeconds * 1000
      await Promise.all(listeners.map((listener) => listener.close(graceMs)))
      await app.stop()
      const uptimeSeconds = Math.round((systemClock.nowMs() - startedMs) / 1000)
      const detail = { pid: process.pid, uptime: uptimeSeconds, reason }
      await app.audit.recordOwn({ ...own, event: 'app.stop', detail })
      await storage.close()
      await lock.release()
      log.info('stopped')
      await logging.close()
    },
  }
}

/** Runs until a signal ends it; answers the exit code. */
export async function runDaemon(load: () => Promise<LoadedSettings>, ready: (url: string) => void): Promise<number> {
  // From the first moment on: unhandled, even HUP would end a process that is still starting.
  let hungUp = false
  let act = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGHUP') hungUp = true
    else process.exit(exitCodes.stopped) // nothing is served yet, so there is nothing to finish
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => act(signal))

  const { daemon, logging } = await serve(load)
  const log = logging.root
  return new Promise((resolve) => {
    const fail = (error: unknown) => {
      log.critical('an uncaught fault ends the process', { error })
      logging.flushSync()
      resolve(exitCodes.fault)
    }
    let stopping = false
    const stop = (signal: 'SIGTERM' | 'SIGINT') => {
      if (stopping) {
        log.warning(`a second ${signal} forces the end`)
        logging.flushSync()
        return resolve(exitCodes.conflict)
      }
      stopping = true
      daemon.stop(`signal:${signal}`).then(() => resolve(exitCodes.stopped), fail)
    }
    const reload = () => {
      if (!stopping) daemon.reload().catch(fail)
    }
    act = (signal) => (signal === 'SIGTERM' || signal === 'SIGINT' ? stop(signal) : reload())
    process.on('uncaughtException', fail).on('unhandledRejection', fail)
    void daemon.lost.then(fail)
    if (hungUp) reload()
    if (daemon.url) ready(daemon.url)
  })
}
