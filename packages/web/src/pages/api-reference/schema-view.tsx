import { Code, Text } from '@mantine/core'
import { Prose } from '../../ui/prose.tsx'
import type { SchemaNode } from './schema-tree.ts'
import classes from './schema-view.module.css'

/** A schema as an indented list. */
export function SchemaView({ node }: { node: SchemaNode }) {
  return (
    <div>
      <Line node={node} />
      <Children nodes={node.children} />
    </div>
  )
}

function Children({ nodes }: { nodes: readonly SchemaNode[] }) {
  if (nodes.length === 0) return null
  return (
    <ul className={classes.list}>
      {nodes.map((node) => (
        <li key={node.name} className={classes.item}>
          <Line node={node} />
          <Children nodes={node.children} />
        </li>
      ))}
    </ul>
  )
}

function Line({ node }: { node: SchemaNode }) {
  const { name, type, required, description } = node
  return (
    <>
      <div className={classes.line}>
        {name && <code className={classes.name}>{name}</code>}
        <span className={classes.type}>{type}</span>
        {name && !required && <span className={classes.optional}>optional</span>}
      </div>
      {description && (
        <Text size="sm">
          <Prose text={description} />
        </Text>
      )}
      <SchemaRemarks node={node} />
    </>
  )
}

/** Allowed values and bounds. */
export function SchemaRemarks({ node: { values, notes } }: { node: SchemaNode }) {
  return (
    <>
      {values.length > 0 && (
        <div className={classes.values}>
          {values.map((value) => (
            <Code key={value}>{value}</Code>
          ))}
        </div>
      )}
      {notes.length > 0 && (
        <Text size="xs" c="dimmed" className={classes.notes}>
          {notes.join(' · ')}
        </Text>
      )}
    </>
  )
}
