import { Code, Text } from '@mantine/core'
import { Card } from '../../ui/card.tsx'
import { AllOperationsLink } from './all-operations-link.tsx'

export function UnknownOperation({ id }: { id: string }) {
  return (
    <>
      <AllOperationsLink />
      <Card title="No such operation">
        <Text>
          This server has no <Code>{id}</Code>. It may belong to another version.
        </Text>
      </Card>
    </>
  )
}
