import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

export const openapiQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: ({ signal }) => api.openapi({ signal }),
  staleTime: 300_000, // it changes only with the server's version
})
