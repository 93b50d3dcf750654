import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useState } from 'react'
import { createQueryClient } from '../data/query-client.ts'
import { CrashPage } from '../ui/crash-page.tsx'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { DEFAULT_COLOR_SCHEME } from './color-scheme.ts'
import { createAppRouter } from './router.tsx'
import { colorSchemeManager, theme } from './theme.ts'

/** Everything around the screens: look, cached server data, routes, and the last resort when one of them fails. */
export function App() {
  const [queryClient] = useState(createQueryClient)
  const [router] = useState(createAppRouter)
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme={DEFAULT_COLOR_SCHEME}
      colorSchemeManager={colorSchemeManager}
      getStyleNonce={styleNonce}
    >
      <ErrorBoundary fallback={(error) => <CrashPage error={error} />}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </ErrorBoundary>
    </MantineProvider>
  )
}

/** The nonce this response of the server allows styles with. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
}
