import type { InstanceConfig } from '@svc/protocol/instance'
import { useQuery } from '@tanstack/react-query'
import { configQuery } from './instance.ts'

export interface Branding {
  readonly productName: string
  /** '' for the built-in mark. */
  readonly logoUrl: string
  readonly color: string | undefined
  readonly supportHref: string | undefined
}

/** How this installation presents itself; our own name and mark until the server has answered. */
export function useBranding(): Branding {
  return brandingOf(useQuery(configQuery).data)
}

export function brandingOf(config: InstanceConfig | undefined): Branding {
  return {
    productName: config?.product_name || 'svc',
    logoUrl: config?.logo_url ?? '',
    color: config?.brand_color || undefined,
    supportHref: config?.support_url || (config?.support_email ? `mailto:${config.support_email}` : undefined),
  }
}
