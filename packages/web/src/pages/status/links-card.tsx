import { Anchor } from '@mantine/core'
import type { InstanceConfig } from '@svc/protocol/instance'
import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../../data/instance.ts'
import { Card } from '../../ui/card.tsx'
import { RouteLink } from '../../ui/route-link.tsx'
import classes from './links-card.module.css'

export function LinksCard() {
  const { data: config } = useQuery(configQuery)
  return (
    <Card title="Links">
      <ul className={classes.list}>
        <li>
          <RouteLink to="/api">API reference</RouteLink>
        </li>
        {config &&
          configuredLinks(config).map(({ label, href }) => (
            <li key={label}>
              <Anchor href={href}>{label}</Anchor>
            </li>
          ))}
      </ul>
    </Card>
  )
}

function configuredLinks(config: InstanceConfig) {
  return [
    { label: 'Support', href: config.support_url },
    { label: 'Write to support', href: config.support_email && `mailto:${config.support_email}` },
    { label: 'Terms of use', href: config.terms_url },
    { label: 'Privacy', href: config.privacy_url },
    { label: 'Acceptable use', href: config.aup_url },
  ].filter((link) => link.href !== '')
}
