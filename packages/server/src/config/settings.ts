import { auditRows } from './areas/audit.ts'
import { authRows } from './areas/auth.ts'
import { brandingRows } from './areas/branding.ts'
import { capacityRows } from './areas/capacity.ts'
import { containerRows } from './areas/containers.ts'
import { directoryRows } from './areas/directories.ts'
import { egressRows } from './areas/egress.ts'
import { featureRows } from './areas/features.ts'
import { hostingRows } from './areas/hosting.ts'
import { loggingRows } from './areas/logging.ts'
import { mailRows } from './areas/mail.ts'
import { networkRows } from './areas/network.ts'
import { notificationRows } from './areas/notifications.ts'
import { oidcRows } from './areas/oidc.ts'
import { passwordRows } from './areas/passwords.ts'
import { sessionRows } from './areas/sessions.ts'
import { storageRows } from './areas/storage.ts'
import { tlsRows } from './areas/tls.ts'
import type { Row, Values } from './row.ts'

/** Every setting, in the order the reference prints them. */
export const areas = {
  directories: { title: 'Directories and files', rows: directoryRows },
  network: { title: 'Network', rows: networkRows },
  hosting: { title: 'Public address and hosted applications', rows: hostingRows },
  tls: { title: 'TLS', rows: tlsRows },
  auth: { title: 'Sign-in and accounts', rows: authRows },
  passwords: { title: 'Password policy', rows: passwordRows },
  sessions: { title: 'Sessions', rows: sessionRows },
  oidc: { title: 'Single sign-on', rows: oidcRows },
  storage: { title: 'Database', rows: storageRows },
  containers: { title: 'Workspaces and containers', rows: containerRows },
  capacity: { title: 'Capacity', rows: capacityRows },
  egress: { title: 'Outgoing traffic', rows: egressRows },
  audit: { title: 'Audit', rows: auditRows },
  notifications: { title: 'Notifications', rows: notificationRows },
  logging: { title: 'Logging', rows: loggingRows },
  mail: { title: 'Mail', rows: mailRows },
  branding: { title: 'Branding and legal texts', rows: brandingRows },
  features: { title: 'Features and language models', rows: featureRows },
} as const

export type Area = keyof typeof areas

/** The configuration as the program reads it: `settings.network.port`. */
export type Settings = { readonly [A in Area]: Values<(typeof areas)[A]['rows']> }

/** A row whose value type does not matter to the reader. */
export type AnyRow = Row<unknown>

export interface PlacedRow {
  readonly area: string
  readonly key: string
  readonly row: AnyRow
}

export const settingRows: readonly PlacedRow[] = Object.entries(areas).flatMap(([area, { rows }]) =>
  Object.entries<AnyRow>(rows).map(([key, row]) => ({ area, key, row })),
)

/** Settings made of one value per row. */
export function buildSettings(valueFor: (row: AnyRow) => unknown): Settings {
  const built: Record<string, Record<string, unknown>> = {}
  for (const { area, key, row } of settingRows) {
    built[area] ??= {}
    built[area][key] = valueFor(row)
  }
  for (const area of Object.values(built)) Object.freeze(area)
  // The keys come from the rows and each value from its own row's parser, which the compiler cannot follow.
  return Object.freeze(built) as Settings
}
