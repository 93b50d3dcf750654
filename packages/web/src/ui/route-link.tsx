import { Anchor } from '@mantine/core'
import { createLink } from '@tanstack/react-router'

/** A link inside the application, in the look of all links. */
export const RouteLink = createLink(Anchor<'a'>)
