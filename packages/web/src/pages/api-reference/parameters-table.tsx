import { Table } from '@mantine/core'
import type { OpenApiDocument, Parameter } from '@svc/client/openapi'
import { Breakable } from '../../ui/breakable.tsx'
import { Prose } from '../../ui/prose.tsx'
import classes from './parameters-table.module.css'
import { schemaTree } from './schema-tree.ts'
import { SchemaRemarks } from './schema-view.tsx'

interface ParametersTableProps {
  readonly document: OpenApiDocument
  readonly parameters: readonly Parameter[]
}

export function ParametersTable({ document, parameters }: ParametersTableProps) {
  return (
    <Table aria-label="Parameters" verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Name</Table.Th>
          <Table.Th scope="col">Type</Table.Th>
          <Table.Th scope="col">Meaning</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {parameters.map((parameter) => (
          <Row key={`${parameter.in}-${parameter.name}`} document={document} parameter={parameter} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ document, parameter }: { document: OpenApiDocument; parameter: Parameter }) {
  const node = schemaTree(document, parameter.schema ?? {})
  return (
    <Table.Tr className={classes.row}>
      <Table.Th scope="row">
        <code className={classes.name}>
          <Breakable text={parameter.name} />
        </code>
        <span className={classes.place}>
          {parameter.in}
          {parameter.required && <span className={classes.required}>, required</span>}
        </span>
      </Table.Th>
      <Table.Td>{node.type}</Table.Td>
      <Table.Td>
        <Prose text={parameter.description ?? node.description} />
        <SchemaRemarks node={node} />
      </Table.Td>
    </Table.Tr>
  )
}
