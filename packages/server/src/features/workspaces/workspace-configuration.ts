import type { CreateWorkspace } from '@svc/protocol/workspaces'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import { readBanner } from './classification-banner.ts'
import { readDomains } from './domains.ts'
import { readEnv } from './env.ts'
import { readHealthCheck } from './health-check.ts'
import { checkMounts, mountRulesOf } from './mounts.ts'
import { readSettings } from './settings-bag.ts'
import type { Workspace } from './workspace.ts'

/** What a person can set, as a client writes it. */
export type WrittenConfiguration = Omit<CreateWorkspace, 'name'>

/** The part of a workspace that a person can set. */
export type Configuration = Pick<
  Workspace,
  | 'image'
  | 'serviceCommand'
  | 'autoStart'
  | 'setupState'
  | 'healthCheck'
  | 'mounts'
  | 'env'
  | 'allowedDomains'
  | 'rejectedDomains'
  | 'settings'
  | 'egressMode'
  | 'perHandleHome'
  | 'classificationBanner'
  | 'hostedPublic'
>

interface ConfigurationRulesParts {
  readonly settings: () => Pick<Settings, 'containers' | 'directories'>
  /** Throws for an image that workspaces may not use. */
  readonly images: { requireAllowed(image: string): Promise<void> | void }
  /** Host paths that may never be mounted, beside the directories of the server. */
  readonly protectedPaths: () => readonly string[]
}

/** A workspace of which nothing is said. */
export const PLAIN: Configuration = {
  image: null,
  serviceCommand: null,
  autoStart: false,
  setupState: 'complete',
  healthCheck: null,
  mounts: null,
  env: null,
  allowedDomains: null,
  rejectedDomains: null,
  settings: null,
  egressMode: 'interactive',
  perHandleHome: false,
  classificationBanner: null,
  hostedPublic: false,
}

/** Turns what clients write into what is kept, by the rules of each field. */
export class ConfigurationRules {
  readonly #parts: ConfigurationRulesParts

  constructor(parts: ConfigurationRulesParts) {
    this.#parts = parts
  }

  /** What a new workspace has where nothing is said. */
  get defaults(): Configuration {
    return { ...PLAIN, perHandleHome: this.#parts.settings().containers.perHandleHome }
  }

  get nixAvailable(): boolean {
    return this.#parts.settings().containers.nixEnabled
  }

  /**
   * Every field that was given, checked. `stored` is what the workspace has: a value that is only kept is not refused
   * because the operator no longer offers it.
   */
  read(written: WrittenConfiguration, stored: Configuration): Partial<Configuration> {
    const { allowed_domains: allowed, rejected_domains: rejected } = written
    return {
      ...(written.image === undefined ? {} : { image: written.image?.trim() || null }),
      ...(written.service_command === undefined ? {} : { serviceCommand: readCommand(written.service_command) }),
      ...(written.auto_start === undefined ? {} : { autoStart: written.auto_start ?? false }),
      ...(written.setup_state == null ? {} : { setupState: written.setup_state }),
      ...(written.health_check === undefined ? {} : { healthCheck: readHealthCheck(written.health_check) }),
      ...(written.mounts === undefined ? {} : { mounts: written.mounts?.length ? written.mounts : null }),
      ...(written.env === undefined ? {} : { env: readEnv(written.env) }),
      ...(allowed === undefined ? {} : { allowedDomains: readDomains(allowed, 'allowed_domains') }),
      ...(rejected === undefined ? {} : { rejectedDomains: readDomains(rejected, 'rejected_domains') }),
      ...(written.settings === undefined ? {} : { settings: this.#readBag(written.settings, stored) }),
      ...(written.egress_mode == null ? {} : { egressMode: written.egress_mode }),
      ...(written.per_handle_home === undefined ? {} : { perHandleHome: written.per_handle_home ?? false }),
      ...(written.classification_banner === undefined
        ? {}
        : { classificationBanner: readBanner(written.classification_banner) }),
      ...(written.hosted_public === undefined ? {} : { hostedPublic: written.hosted_public ?? false }),
    }
  }

  /** What depends on this server and not only on the text: images, mounts, and whether it starts workspaces itself. */
  async requireOffered(wanted: Partial<Configuration>, stored: Configuration): Promise<void> {
    const { settings, images, protectedPaths } = this.#parts
    if (wanted.autoStart && !stored.autoStart && !settings().containers.allowAutostart) {
      throw new AppError('bad_request', 'auto_start is not allowed on this server')
    }
    if (wanted.image != null) await images.requireAllowed(wanted.image)
    if (wanted.mounts != null) await checkMounts(wanted.mounts, mountRulesOf(settings(), protectedPaths()))
  }

  #readBag(bag: Readonly<Record<string, unknown>> | null, { settings: stored }: Configuration) {
    return bag === null ? null : readSettings(bag, { nixAvailable: this.nixAvailable, stored })
  }
}

function readCommand(command: string | null): string | null {
  if (command?.includes('\0')) throw new AppError('bad_request', 'service_command must not hold a NUL character')
  return command?.trim() ? command : null
}
