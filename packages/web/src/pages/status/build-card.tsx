import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { explainError } from '../../data/explain-error.ts'
import { versionQuery } from '../../data/instance.ts'
import { Card } from '../../ui/card.tsx'
import { Facts, FactsSkeleton } from '../../ui/facts.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Moment } from '../../ui/moment.tsx'

export function BuildCard() {
  const version = useQuery(versionQuery)
  return (
    <Card title="Build">
      {version.isPending && <FactsSkeleton rows={4} />}
      {version.isLoadingError && <Failure {...explainError(version.error)} onRetry={version.refetch} />}
      {version.data && (
        <Facts
          facts={[
            { label: 'Version', value: version.data.version },
            { label: 'Commit', value: <Code>{version.data.commit}</Code> },
            { label: 'Built', value: version.data.built_at ? <Moment at={version.data.built_at} /> : 'Not recorded' },
            { label: 'Features', value: version.data.features.map(({ name }) => name).join(', ') || 'None installed' },
          ]}
        />
      )}
    </Card>
  )
}
