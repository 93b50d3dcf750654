import * as z from 'zod'

/** What the server tells about itself before anybody signs in: health, audit status, build and configuration. */

export const ResourceState = z.enum(['ok', 'warn', 'critical'])
export type ResourceState = z.infer<typeof ResourceState>

export const FilesystemHealth = z.object({
  path: z.string(),
  usage_percent: z.number(),
  state: ResourceState,
})
export type FilesystemHealth = z.infer<typeof FilesystemHealth>

export const MemoryHealth = z.object({
  usage_percent: z.number(),
  state: ResourceState,
})
export type MemoryHealth = z.infer<typeof MemoryHealth>

export const CpuHealth = z.object({
  psi_avg60_percent: z
    .number()
    .meta({ description: 'Share of the last 60 seconds in which some process waited for a processor' }),
  state: ResourceState,
})
export type CpuHealth = z.infer<typeof CpuHealth>

export const HealthDetail = z.object({
  filesystems: z
    .array(FilesystemHealth)
    .meta({ description: 'Every monitored filesystem, not only those that are short of space' }),
  memory: MemoryHealth.nullable().meta({ description: 'null when not measured' }),
  cpu: CpuHealth.nullable().meta({ description: 'null when not measured' }),
  audit: z.boolean().meta({ description: 'true when writing the audit log failed in the latest watchdog window' }),
  last_poll: z
    .string()
    .nullable()
    .meta({ description: 'When these values were measured, ISO 8601 with offset; null when nothing is measured' }),
})
export type HealthDetail = z.infer<typeof HealthDetail>

export const Health = z.object({
  status: z.enum(['ok', 'degraded']),
  instance: z.string().meta({ description: 'The instance id, the same across restarts' }),
  detail: HealthDetail.optional().meta({ description: 'Only when degraded: what the server measured' }),
})
export type Health = z.infer<typeof Health>

export const ForwardingOff = z.object({ enabled: z.literal(false) })

export const ForwardingOn = z.object({
  enabled: z.literal(true),
  healthy: z.boolean(),
  targets: z.array(z.enum(['syslog', 'url'])),
  pending: z
    .object({
      audit_events: z.int().nullable(),
      container_events: z.int().nullable(),
      egress_consent: z.int().nullable(),
    })
    .meta({ description: 'Rows of each stream not sent yet; null when not known' }),
  last_success_at: z.number().nullable().meta({ description: 'Seconds since 1970' }),
  last_failure_at: z.number().nullable().meta({ description: 'Seconds since 1970' }),
  last_error: z.string().nullable().meta({ description: 'Class name of the latest error' }),
})

export const AuditStatus = z.object({
  write_failures: z
    .int()
    .meta({ description: 'Rows about containers that could not be written since the process started' }),
  identity_write_failures: z.int().meta({
    description:
      'Rows about people, permissions and the server itself that could not be written since the process started',
  }),
  fail_closed: z
    .boolean()
    .meta({ description: 'true when an action whose audit row cannot be written is refused instead of done' }),
  forwarding: z.discriminatedUnion('enabled', [ForwardingOff, ForwardingOn]),
})
export type AuditStatus = z.infer<typeof AuditStatus>

export const InstalledFeature = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
})
export type InstalledFeature = z.infer<typeof InstalledFeature>

export const Version = z.object({
  version: z.string().meta({ description: '"dev" without build information' }),
  commit: z.string().meta({ description: '"unknown" without build information' }),
  built_at: z.string().nullable().meta({ description: 'null without build information' }),
  features: z.array(InstalledFeature),
})
export type Version = z.infer<typeof Version>

export const AuthModes = z.enum(['password', 'oidc', 'both', 'none'])
export type AuthModes = z.infer<typeof AuthModes>

export const OidcProvider = z.object({
  id: z.string(),
  display_name: z.string(),
})
export type OidcProvider = z.infer<typeof OidcProvider>

export const PasswordRequirements = z
  .object({ upper: z.int(), lower: z.int(), digit: z.int(), special: z.int() })
  .meta({ description: 'How many characters of each class a password must have at least' })
export type PasswordRequirements = z.infer<typeof PasswordRequirements>

/** Loose: features may add keys of their own, with string values. */
export const InstanceConfig = z.looseObject({
  registration_enabled: z.boolean().meta({ description: 'Visitors may create an account' }),
  invitations_enabled: z.boolean(),
  product_name: z.string(),
  login_banner_title: z.string(),
  login_banner: z.string().meta({ description: 'Text a visitor must accept before signing in; "" when unset' }),
  login_banner_every_visit: z.boolean().meta({ description: 'Acceptance is not remembered between visits' }),
  oidc_providers: z.array(OidcProvider),
  auth_modes: AuthModes.meta({ description: '`none`: no sign-in, every caller is the local user' }),
  instance_id: z.string(),
  allow_autostart: z.boolean().meta({ description: 'Workspaces may be set to start with the server' }),
  browser_delegate_enabled: z.boolean().meta({ description: 'Workspaces may ask the browser to act for them' }),
  default_per_handle_home: z
    .boolean()
    .meta({ description: 'New workspaces give each member a home directory of their own' }),
  default_classification_banner: z
    .string()
    .meta({ description: 'Shown on workspaces that set none of their own; "" when unset' }),
  min_password_length: z.int().meta({ description: 'In Unicode code points' }),
  password_requirements: PasswordRequirements,
  password_history_count: z.int().meta({ description: 'How many former passwords may not be used again' }),
  logo_url: z.string().meta({ description: '"" when unset' }),
  terms_url: z.string().meta({ description: '"" when unset' }),
  privacy_url: z.string().meta({ description: '"" when unset' }),
  aup_url: z.string().meta({ description: 'Acceptable use policy; "" when unset' }),
  support_url: z.string().meta({ description: '"" when unset' }),
  support_email: z.string().meta({ description: '"" when unset' }),
  nix_available: z.boolean(),
  sudo_available: z.boolean(),
  per_handle_home_available: z.boolean(),
  brand_color: z.string().optional().meta({ description: 'Colour of the built-in logo, in hexadecimal notation' }),
  password_min_changed: z
    .int()
    .optional()
    .meta({ description: 'How many characters of a new password must differ from the old one' }),
  step_up_window_minutes: z
    .int()
    .optional()
    .meta({ description: 'How long a confirmed password counts. Signed-in callers only' }),
  netfilter_enabled: z.boolean().optional().meta({ description: 'Signed-in callers only' }),
  netfilter_default_domains: z
    .array(z.string())
    .optional()
    .meta({ description: 'Domains every filtered workspace may reach. Signed-in callers only' }),
  features_enable: z
    .string()
    .optional()
    .meta({ description: 'Enabled features, comma-separated as configured. Signed-in callers only, when set' }),
})
export type InstanceConfig = z.infer<typeof InstanceConfig>
