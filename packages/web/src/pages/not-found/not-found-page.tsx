import { Stack, Text, Title } from '@mantine/core'
import { RouteLink } from '../../ui/route-link.tsx'

export function NotFoundPage() {
  return (
    <Stack align="flex-start">
      <Title order={1}>Page not found</Title>
      <Text>Nothing is at this address. It may have been mistyped, or the page has moved.</Text>
      <RouteLink to="/">Go to the status page</RouteLink>
    </Stack>
  )
}
