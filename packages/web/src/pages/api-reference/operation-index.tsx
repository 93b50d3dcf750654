import { CloseButton, Stack, Text, TextInput, Title } from '@mantine/core'
import type { OpenApiDocument } from '@svc/client/openapi'
import { memo, useDeferredValue, useMemo, useState } from 'react'
import { Breakable } from '../../ui/breakable.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { RouteLink } from '../../ui/route-link.tsx'
import { filterOperations } from './filter.ts'
import { MethodBadge } from './method-badge.tsx'
import classes from './operation-index.module.css'
import { type ApiOperation, groupByTag, type OperationGroup } from './operations.ts'

interface OperationIndexProps {
  readonly operations: readonly ApiOperation[]
  readonly tags: OpenApiDocument['tags']
}

export function OperationIndex({ operations, tags }: OperationIndexProps) {
  const [query, setQuery] = useState('')
  // Typing stays quick: the list follows when there is time.
  const appliedQuery = useDeferredValue(query)
  const found = useMemo(() => filterOperations(operations, appliedQuery), [operations, appliedQuery])
  const groups = useMemo(() => groupByTag(found, tags), [found, tags])
  return (
    <Stack gap="md">
      <div className={classes.search}>
        <TextInput
          type="search"
          aria-label="Filter operations"
          placeholder="Filter by path, method or word"
          leftSection={<SearchIcon />}
          rightSection={query && <CloseButton size="sm" aria-label="Clear the filter" onClick={() => setQuery('')} />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
        <Text role="status" size="xs" c="dimmed" mt={6}>
          {appliedQuery ? `${found.length} of ${operations.length} operations` : `${operations.length} operations`}
        </Text>
      </div>
      <nav aria-label="Operations">
        {groups.map((group) => (
          <Group key={group.tag} group={group} />
        ))}
        {operations.length > 0 && found.length === 0 && <Text size="sm">No operation matches “{appliedQuery}”.</Text>}
      </nav>
    </Stack>
  )
}

function Group({ group }: { group: OperationGroup }) {
  return (
    <section className={classes.group}>
      <Title order={2} size="h6" className={classes.tag}>
        {group.tag}
      </Title>
      <ul className={classes.list}>
        {group.operations.map((operation) => (
          <Entry key={operation.id} operation={operation} />
        ))}
      </ul>
    </section>
  )
}

/** Memoised: choosing another operation redraws two entries, not two hundred. */
const Entry = memo(function Entry({ operation }: { operation: ApiOperation }) {
  return (
    <li>
      <RouteLink
        to="/api"
        search={{ op: operation.id }}
        preload={false}
        underline="never"
        className={classes.entry}
        // The router marks the current page itself, as long as it compares the whole address.
        activeOptions={{ exact: true }}
        data-deprecated={operation.deprecated || undefined}
      >
        <MethodBadge method={operation.method} />
        <span className={classes.path}>
          <Breakable text={operation.path} />
        </span>
      </RouteLink>
    </li>
  )
})
