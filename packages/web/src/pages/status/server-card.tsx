import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { explainError } from '../../data/explain-error.ts'
import { configQuery } from '../../data/instance.ts'
import { Card } from '../../ui/card.tsx'
import { Facts, FactsSkeleton } from '../../ui/facts.tsx'
import { Failure } from '../../ui/failure.tsx'
import { newAccountWords, signInWords } from './sign-in-words.ts'

export function ServerCard() {
  const config = useQuery(configQuery)
  return (
    <Card title="Server">
      {config.isPending && <FactsSkeleton rows={3} />}
      {config.isLoadingError && <Failure {...explainError(config.error)} onRetry={config.refetch} />}
      {config.data && (
        <Facts
          facts={[
            { label: 'Instance', value: <Code>{config.data.instance_id}</Code> },
            { label: 'Sign-in', value: signInWords(config.data) },
            { label: 'New accounts', value: newAccountWords(config.data) },
          ].filter((fact) => fact.value !== undefined)}
        />
      )}
    </Card>
  )
}
