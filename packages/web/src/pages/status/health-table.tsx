import { Table, Text } from '@mantine/core'
import type { HealthDetail } from '@svc/protocol/instance'
import { Moment } from '../../ui/moment.tsx'
import classes from './health-table.module.css'
import { healthRows } from './health-view.ts'

export function HealthTable({ detail }: { detail: HealthDetail | undefined }) {
  if (!detail) {
    return (
      <Text size="sm" mt="sm">
        The server gave no details.
      </Text>
    )
  }
  return (
    <>
      <Table className={classes.table} aria-label="What the server measured">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Resource</Table.Th>
            <Table.Th scope="col">Measured</Table.Th>
            <Table.Th scope="col">State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {healthRows(detail).map(({ name, measure, percent, state, stateWord }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" className={classes.name}>
                {name}
              </Table.Th>
              <Table.Td>{percent === undefined ? '–' : `${percent.toFixed(1)} % ${measure}`}</Table.Td>
              <Table.Td className={classes.state} data-state={state}>
                {stateWord}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {detail.last_poll !== null && (
        <Text size="sm" c="dimmed" mt="sm">
          Measured <Moment at={detail.last_poll} />
        </Text>
      )}
    </>
  )
}
