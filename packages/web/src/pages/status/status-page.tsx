import { SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useBranding } from '../../data/branding.ts'
import { BuildCard } from './build-card.tsx'
import { HealthCard } from './health-card.tsx'
import { LinksCard } from './links-card.tsx'
import { ServerCard } from './server-card.tsx'
import classes from './status-page.module.css'

/** Tells anybody who opens the server's address what it is and whether it works. */
export function StatusPage() {
  const { productName } = useBranding()
  return (
    <Stack gap="lg" className={classes.page}>
      <header>
        <Title order={1} className={classes.product}>
          {productName}
        </Title>
        <Text c="dimmed" size="lg">
          Development workspaces in containers, shared by everyone who works on this server.
        </Text>
      </header>
      <HealthCard />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <ServerCard />
        <BuildCard />
      </SimpleGrid>
      <LinksCard />
    </Stack>
  )
}
