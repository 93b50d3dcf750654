import { join } from 'node:path'
import type { Settings } from './config/settings.ts'
import type { WatchdogSettings } from './features/watchdog/watchdog.ts'
import type { EdgeSettings } from './http/edge-settings.ts'
import type { MailSettings } from './mail/mail-settings.ts'

// Parts that know nothing of the configuration get the settings in a shape of their own.

/** Made once for each change and not for each request. */
export function edgeView(settings: () => Settings, webDir: string): () => EdgeSettings {
  let source: Settings | undefined
  let view: EdgeSettings | undefined
  return () => {
    const current = settings()
    if (view === undefined || source !== current) {
      source = current
      view = edgeSettings(current, webDir)
    }
    return view
  }
}

function edgeSettings({ network, hosting, tls, directories, branding }: Settings, webDir: string): EdgeSettings {
  return {
    listen: network.listen,
    port: network.port,
    tlsHostname: tls.hostname,
    hostingHostname: hosting.hostname,
    hostingProto: hosting.proto,
    hostingBasePath: hosting.basePath,
    apiRateLimit: network.apiRateLimit,
    trustedProxyCidrs: network.trustedProxyCidrs,
    rejectProxyHeaders: network.rejectProxyHeaders,
    corsOrigins: network.corsOrigins,
    cspConnectOrigins: network.cspConnectOrigins,
    frontendDir: directories.frontendDir ?? webDir,
    logoUrl: branding.logoUrl,
    metricsToken: network.metricsToken,
    hostedAppsHostname: hosting.appsHostname,
  }
}

export function watchdogSettings({ capacity, directories }: Settings): WatchdogSettings {
  return {
    enabled: capacity.watchdogEnabled,
    pollIntervalSeconds: capacity.watchdogPollIntervalSeconds,
    paths: [directories.dataDir, directories.stateDir, ...capacity.diskPaths],
    disk: { warnPercent: capacity.diskWarnPercent, criticalPercent: capacity.diskCriticalPercent },
    memory: {
      enabled: capacity.memoryWatchdogEnabled,
      warnPercent: capacity.memoryWarnPercent,
      criticalPercent: capacity.memoryCriticalPercent,
    },
    cpu: {
      enabled: capacity.cpuWatchdogEnabled,
      warnPercent: capacity.cpuWarnPercent,
      criticalPercent: capacity.cpuCriticalPercent,
    },
  }
}

export function mailSettings({ mail, directories, hosting, branding }: Settings): MailSettings {
  return {
    ...mail,
    ...branding,
    templatesDir: mail.templatesDir ?? join(directories.customizeDir, 'email-templates'),
    hostingHostname: hosting.hostname,
    hostingProto: hosting.proto,
  }
}
