import { Text } from '@mantine/core'
import type { OpenApiDocument } from '@svc/client/openapi'
import { useMemo } from 'react'
import type { Content } from './operations.ts'
import { schemaTree } from './schema-tree.ts'
import { SchemaView } from './schema-view.tsx'

/** One media type of a body or reply. */
export function ContentView({ document, content }: { document: OpenApiDocument; content: Content }) {
  const { mediaType, schema } = content
  const tree = useMemo(() => (schema === undefined ? undefined : schemaTree(document, schema)), [document, schema])
  return (
    <div>
      <Text size="xs" c="dimmed" ff="monospace" mb={4}>
        {mediaType}
      </Text>
      {tree ? <SchemaView node={tree} /> : <Text size="sm">Not described</Text>}
    </div>
  )
}
