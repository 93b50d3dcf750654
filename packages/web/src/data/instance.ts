import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api } from './api.ts'

const POLL_MS = 10_000
/** Faster while the server is away: whoever looks at the page waits for it to come back. */
const POLL_WHILE_DOWN_MS = 3_000

const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => api.health({ signal, timeoutMs: 5_000 }),
  refetchInterval: (query) => (query.state.status === 'error' ? POLL_WHILE_DOWN_MS : POLL_MS),
  staleTime: 0,
  retry: false, // the next poll is the retry
})

export const versionQuery = queryOptions({
  queryKey: ['version'],
  queryFn: ({ signal }) => api.version({ signal }),
})

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: ({ signal }) => api.config({ signal }),
})

/** The server's health, polled while the page is visible. After an outage everything else is read again. */
export function useHealth() {
  const queryClient = useQueryClient()
  const health = useQuery(healthQuery)
  const wasDown = useRef(false)
  useEffect(() => {
    if (wasDown.current && !health.isError) {
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== healthQuery.queryKey[0] })
    }
    wasDown.current = health.isError
  }, [health.isError, queryClient])
  return health
}
