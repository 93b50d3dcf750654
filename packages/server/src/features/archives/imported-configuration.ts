import { CreateWorkspace } from '@svc/protocol/workspaces'
import { AppError } from '../../kernel/app-error.ts'
import { sanitizeImportedEnv } from '../workspaces/env.ts'
import type { ConfigurationRules, WrittenConfiguration } from '../workspaces/workspace-configuration.ts'
import type { WrittenDescription } from './archive-description.ts'

type Rules = Pick<ConfigurationRules, 'defaults' | 'read' | 'requireOffered'>
type Field = keyof WrittenConfiguration

const Configuration = CreateWorkspace.omit({ name: true })
/** As much as a request may set: a list shows every workspace with all of it. */
const MAX_CHARACTERS = 256 * 1024
/** Looked at one by one, on the event loop. */
const MAX_VARIABLES = 5000

/**
 * What of an archive's configuration can be taken over here. What only this server no longer offers is dropped, and
 * the workspace comes without it; settings and lists of hosts are about safety, so wrong ones refuse the archive.
 */
export async function importedConfiguration(
  description: WrittenDescription,
  rules: Rules,
): Promise<WrittenConfiguration> {
  if (Object.keys(description.env ?? {}).length > MAX_VARIABLES) throw tooMuch()
  const optional = (field: Field) => unlessRefused(field, description, rules)
  const configuration: WrittenConfiguration = {
    ...(await optional('image')),
    ...(await optional('service_command')),
    ...(await optional('auto_start')),
    ...(await optional('health_check')),
    ...(await optional('mounts')),
    ...(await optional('egress_mode')),
    ...(await optional('classification_banner')),
    ...required('allowed_domains', description, rules),
    ...required('rejected_domains', description, rules),
    ...settingsIn(description, rules),
    env: sanitizeImportedEnv(description.env),
    per_handle_home: typeof description.per_handle_home === 'boolean' ? description.per_handle_home : true,
    setup_state: 'complete',
  }
  if (JSON.stringify(configuration).length > MAX_CHARACTERS) throw tooMuch()
  return configuration
}

const tooMuch = () => new AppError('archive_invalid', 'The configuration in the archive is too large')

/** The field as the archive has it, or nothing when it does not fit this server. */
async function unlessRefused(
  field: Field,
  description: WrittenDescription,
  rules: Rules,
): Promise<WrittenConfiguration> {
  const shape = Configuration.safeParse({ [field]: description[field] })
  if (!shape.success) return {}
  try {
    await rules.requireOffered(rules.read(shape.data, rules.defaults), rules.defaults)
    return shape.data
  } catch (error) {
    if (error instanceof AppError) return {}
    throw error
  }
}

function required(field: Field, description: WrittenDescription, rules: Rules): WrittenConfiguration {
  const shape = Configuration.safeParse({ [field]: description[field] })
  if (!shape.success) throw new AppError('archive_invalid', `${field} of the archive cannot be read`)
  rules.read(shape.data, rules.defaults)
  return shape.data
}

function settingsIn(description: WrittenDescription, rules: Rules): WrittenConfiguration {
  try {
    return required('settings', description, rules)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError('archive_invalid', `Archive settings are invalid: ${error.message}`)
  }
}
