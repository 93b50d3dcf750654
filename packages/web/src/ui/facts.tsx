import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './facts.module.css'

export interface Fact {
  readonly label: string
  readonly value: ReactNode
}

/** A short list of names and values. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes.list}>
      {facts.map(({ label, value }) => (
        <div key={label} className={classes.row}>
          <dt className={classes.label}>{label}</dt>
          <dd className={classes.value}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Holds the place of `rows` facts, so that nothing moves when they arrive. */
export function FactsSkeleton({ rows }: { rows: number }) {
  return (
    <div className={classes.list} aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
        <div key={row} className={classes.row}>
          <Skeleton height="1.25rem" width="60%" />
          <Skeleton height="1.25rem" width="80%" />
        </div>
      ))}
    </div>
  )
}
