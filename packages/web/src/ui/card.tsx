import { Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './card.module.css'

interface CardProps {
  readonly title: string
  /** Of the heading; it looks the same at every level. */
  readonly level?: 2 | 3
  readonly children: ReactNode
}

/** A titled part of a page; a region of that name for screen readers. */
export function Card({ title, level = 2, children }: CardProps) {
  const titleId = useId()
  return (
    <section className={classes.card} aria-labelledby={titleId}>
      <Title order={level} size="h4" id={titleId} className={classes.title}>
        {title}
      </Title>
      {children}
    </section>
  )
}
