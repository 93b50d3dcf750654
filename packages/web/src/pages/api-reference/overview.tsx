import { Button, Code, Stack, Text } from '@mantine/core'
import type { OpenApiDocument } from '@svc/client/openapi'
import { api } from '../../data/api.ts'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { DownloadIcon } from '../../ui/icons.tsx'
import { Prose } from '../../ui/prose.tsx'
import { type ApiOperation, groupByTag } from './operations.ts'
import classes from './overview.module.css'

interface OverviewProps {
  readonly document: OpenApiDocument
  readonly operations: readonly ApiOperation[]
}

/** What stands beside the index until an operation is chosen. */
export function Overview({ document, operations }: OverviewProps) {
  const { title, version, description } = document.info
  const groups = groupByTag(operations, document.tags)
  return (
    <Stack gap="lg">
      <Card title={title}>
        {description && (
          <Text className={classes.description}>
            <Prose text={description} />
          </Text>
        )}
        <Facts
          facts={[
            { label: 'Version', value: version },
            { label: 'Format', value: `OpenAPI ${document.openapi}` },
            {
              label: 'Signed in',
              value: (
                <>
                  Send <Code>Authorization: Bearer $TOKEN</Code> where an operation asks for more than “anyone”.
                </>
              ),
            },
          ]}
        />
        <Button
          component="a"
          href={api.openapiUrl}
          download="openapi.json"
          variant="default"
          mt="md"
          leftSection={<DownloadIcon />}
        >
          Download openapi.json
        </Button>
      </Card>
      {operations.length === 0 && (
        <Text role="status">This server describes no operations. That is unusual: look at its log.</Text>
      )}
      {groups.some((group) => group.description) && (
        <Card title="Groups">
          <Facts
            facts={groups.map(({ tag, description }) => ({
              label: tag,
              value: <Prose text={description || '–'} />,
            }))}
          />
        </Card>
      )}
    </Stack>
  )
}
