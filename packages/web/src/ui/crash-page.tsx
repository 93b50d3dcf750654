import { Button, Code, Stack, Text, Title } from '@mantine/core'
import classes from './message-page.module.css'

/** A screen failed to draw, or its code could not be fetched, as happens after an update of the server. */
export function CrashPage({ error }: { error: unknown }) {
  return (
    <Stack className={classes.page} role="alert" align="flex-start">
      <Title order={1} size="h2">
        This page stopped working
      </Title>
      <Text>Either the server does not answer at the moment, or it was updated meanwhile. Try again in a moment.</Text>
      {error instanceof Error && (
        <Code block className={classes.reason}>
          {error.message}
        </Code>
      )}
      <Button onClick={() => window.location.reload()}>Reload</Button>
    </Stack>
  )
}
