import { Button, Code, Text } from '@mantine/core'
import classes from './failure.module.css'
import { WarningIcon } from './icons.tsx'

interface FailureProps {
  readonly title: string
  readonly sentence: string
  readonly requestId?: string | undefined
  readonly onRetry: () => void
}

/** Stands where the content would have been: what failed, and a way to try again. */
export function Failure({ title, sentence, requestId, onRetry }: FailureProps) {
  return (
    <div role="alert" className={classes.failure}>
      <p className={classes.title}>
        <WarningIcon />
        {title}
      </p>
      <Text size="sm">{sentence}</Text>
      {requestId && (
        <Text size="sm" c="dimmed">
          Request id <Code>{requestId}</Code>
        </Text>
      )}
      <Button size="xs" variant="default" onClick={() => onRetry()}>
        Try again
      </Button>
    </div>
  )
}
