import { ApiError } from '@svc/client/errors'
import { QueryClient } from '@tanstack/react-query'

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The browser's idea of "offline" says nothing about a server on this machine or this network.
        networkMode: 'always',
        // A refusal stays a refusal; only a broken connection deserves another try.
        retry: (failures, error) => failures < 2 && !(error instanceof ApiError),
        retryDelay: 1_000,
        staleTime: 60_000,
      },
    },
  })
}
