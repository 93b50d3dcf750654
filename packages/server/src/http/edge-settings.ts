import type { HostingSettings } from './hosting-address.ts'

/** A value that must not be printed; `reveal` is called where it is compared. */
interface Secret {
  reveal(): string
}

/** The settings the HTTP edge reads. It asks for them on every request, so a reload takes effect at once. */
export interface EdgeSettings extends HostingSettings {
  /** Requests per client and minute under `/api`; 0 for no limit. */
  readonly apiRateLimit: number
  readonly trustedProxyCidrs: readonly string[]
  readonly rejectProxyHeaders: boolean
  /** Undefined: only the server's own address. */
  readonly corsOrigins: readonly string[] | undefined
  readonly cspConnectOrigins: readonly string[]
  readonly frontendDir: string | undefined
  readonly logoUrl: string | undefined
  readonly metricsToken: Secret | undefined
  /** Where browsers open hosted applications, if not where the web interface is; `*.` for a name per workspace. */
  readonly hostedAppsHostname: string | undefined
}
