import { hostname } from 'node:os'
import { Secret } from '../config/secret.ts'
import type { Settings } from '../config/settings.ts'
import type { LogSettings } from '../logging/logging.ts'

export function logSettings({ logging }: Settings, instance: string): LogSettings {
  const { file: path, fileMaxBytes: maxBytes, fileRotate: rotate, fileBackupCount: backupCount } = logging
  const file = path === undefined ? undefined : { path, maxBytes, rotate, backupCount }
  return { level: logging.level, format: logging.format, file, host: hostname(), instance }
}

/** Every secret in the settings, however deep, so that the log can refuse to write it. */
export function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()]
  if (typeof value !== 'object' || value === null) return []
  // A Map or Set has its content out of reach of `Object.values`.
  const parts = value instanceof Map || value instanceof Set ? [...value.values()] : Object.values(value)
  return parts.flatMap(secretsIn)
}
