import { Stack, Text, Title } from '@mantine/core'
import type { OpenApiDocument } from '@svc/client/openapi'
import { useEffect, useRef } from 'react'
import { baseUrl } from '../../data/api.ts'
import { Breakable } from '../../ui/breakable.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Prose } from '../../ui/prose.tsx'
import { AllOperationsLink } from './all-operations-link.tsx'
import { ContentView } from './content-view.tsx'
import { curlExample } from './curl-example.ts'
import { MethodBadge } from './method-badge.tsx'
import classes from './operation-detail.module.css'
import type { ApiOperation } from './operations.ts'
import { ParametersTable } from './parameters-table.tsx'
import { Replies } from './replies.tsx'
import { serverAddress } from './server-address.ts'

interface OperationDetailProps {
  readonly document: OpenApiDocument
  readonly operation: ApiOperation
}

/** Everything about one operation. Drawn anew for each, so that it can take the focus when it appears. */
export function OperationDetail({ document, operation }: OperationDetailProps) {
  const { method, path, summary, description, needs, deprecated, parameters, body, replies } = operation
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])

  return (
    <article aria-labelledby="operation">
      <AllOperationsLink />
      <Stack gap="lg">
        <header>
          <Title order={2} id="operation" ref={heading} tabIndex={-1} className={classes.title}>
            {summary || path}
          </Title>
          <div className={classes.address}>
            <MethodBadge method={method} />
            <code className={classes.path}>
              <Breakable text={path} />
            </code>
          </div>
          {deprecated && (
            <Text size="sm" className={classes.deprecated}>
              Deprecated: it may go away, do not use it in new work
            </Text>
          )}
          {needs && (
            <Text size="sm" c="dimmed">
              Who may call: <strong className={classes.needs}>{needs}</strong>
            </Text>
          )}
          {description && (
            <Text mt="sm" className={classes.description}>
              <Prose text={description} />
            </Text>
          )}
        </header>
        {parameters.length > 0 && (
          <Card title="Parameters" level={3}>
            <ParametersTable document={document} parameters={parameters} />
          </Card>
        )}
        {body && (
          <Card title={body.required ? 'Request body' : 'Request body (optional)'} level={3}>
            {body.contents.map((content) => (
              <ContentView key={content.mediaType} document={document} content={content} />
            ))}
          </Card>
        )}
        <Card title="Replies" level={3}>
          <Replies document={document} replies={replies} />
        </Card>
        <Card title="Example" level={3}>
          <CodeBlock
            label="Shell command"
            text={curlExample(document, serverAddress(document.servers, baseUrl), operation)}
          />
        </Card>
      </Stack>
    </article>
  )
}
