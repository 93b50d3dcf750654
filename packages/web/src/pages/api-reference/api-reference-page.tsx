import { Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { explainError } from '../../data/explain-error.ts'
import { openapiQuery } from '../../data/openapi.ts'
import { Failure } from '../../ui/failure.tsx'
import { ReferenceSkeleton } from './reference-skeleton.tsx'
import { ReferenceView } from './reference-view.tsx'

const route = getRouteApi('/api')

/** The server's own description of its API, made readable. */
export function ApiReferencePage() {
  const { op } = route.useSearch()
  const openapi = useQuery(openapiQuery)
  return (
    <Stack gap="lg">
      <header>
        <Title order={1}>API reference</Title>
        <Text c="dimmed" size="lg">
          Every request this server answers, printed from its own routes.
        </Text>
      </header>
      {openapi.isPending && <ReferenceSkeleton />}
      {openapi.isLoadingError && <Failure {...explainError(openapi.error)} onRetry={openapi.refetch} />}
      {openapi.data && <ReferenceView document={openapi.data} selectedId={op} />}
    </Stack>
  )
}
