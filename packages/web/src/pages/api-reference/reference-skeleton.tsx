import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import classes from './reference-view.module.css'

const widths = ['70%', '85%', '60%', '75%', '90%', '65%', '80%', '55%']

export function ReferenceSkeleton() {
  return (
    <div className={classes.columns}>
      <VisuallyHidden role="status">Loading the API reference</VisuallyHidden>
      <Stack gap="sm" className={classes.index}>
        <Skeleton height="2.25rem" />
        {widths.map((width) => (
          <Skeleton key={width} height="1.25rem" width={width} />
        ))}
      </Stack>
      <Stack className={classes.content}>
        <Skeleton height="12rem" radius="lg" />
      </Stack>
    </div>
  )
}
