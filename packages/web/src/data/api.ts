import { createClient } from '@svc/client/client'

/** The page is served from the server's base path, so the API is beside it. */
export const baseUrl = new URL('.', document.baseURI)

export const api = createClient({ baseUrl })
