import type { Logger } from '../kernel/logger.ts'
import type { Environment } from './environment.ts'
import { isRecord } from './formats.ts'
import { InvalidValue, reasonsOf } from './invalid-value.ts'
import { isReference, type ReferenceReader } from './references.ts'
import { Secret } from './secret.ts'

/** How the variable of every setting begins that a feature declares. */
export const FEATURE_PREFIX = 'SVCWS_FEATURE_'
export type FeatureKey = `${typeof FEATURE_PREFIX}${string}`

/** Where a feature's own settings come from. */
export interface FeatureSources {
  readonly env: Environment
  /** `settings.features.config` */
  readonly config: ReadonlyMap<string, Secret>
  readonly readReference: ReferenceReader
  readonly logger: Logger
}

/** The `features_config` block. Its values may be keys and passwords: only the feature that declared one knows. */
export function parseFeaturesConfig(raw: unknown): ReadonlyMap<string, Secret> {
  if (!isRecord(raw)) throw new InvalidValue('must be a map of text')
  const secrets = new Map<string, Secret>()
  for (const [key, value] of Object.entries(raw)) {
    if (typeof value !== 'string') throw new InvalidValue(`has a value that is not text: put that of ${key} in quotes`)
    secrets.set(key, new Secret(value))
  }
  return secrets
}

/**
 * The value of a setting that a feature declares: variable, then `features_config`, then the feature's default.
 * Read when it is used, and a broken reference gives the default, because one feature must not stop the server.
 * A broken variable does not fall back to the block: the operator meant to replace what stands there.
 */
export async function featureValue(
  key: FeatureKey,
  fallback: string | undefined,
  sources: FeatureSources,
): Promise<string | undefined> {
  const { env, config, readReference, logger } = sources
  const shortKey = key.slice(FEATURE_PREFIX.length).toLowerCase()
  const raw = env[key] || (config.get(key) ?? config.get(shortKey))?.reveal()
  if (raw === undefined) return fallback
  if (!isReference(raw)) return raw
  try {
    return await readReference(raw)
  } catch (error) {
    logger.error(`${key} ${reasonsOf(error).join('; ')}; using the default of the feature`)
    return fallback
  }
}
