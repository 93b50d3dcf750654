import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'

/** While the code of a screen is on its way. */
export function PageSkeleton() {
  return (
    <Stack>
      <VisuallyHidden role="status">Loading</VisuallyHidden>
      <Skeleton height="2.25rem" width="16rem" maw="80%" />
      <Skeleton height="1.25rem" width="28rem" maw="100%" />
      <Skeleton height="12rem" mt="md" />
    </Stack>
  )
}
