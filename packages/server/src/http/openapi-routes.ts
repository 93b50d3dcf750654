import { z } from 'zod'
import { type Route, route } from '../kernel/route.ts'
import { openApiDocument } from './openapi.ts'

/** The whole table with one row added: the one that prints it. */
export function withOpenApi(routes: readonly Route[], version: string): Route[] {
  // Printed when somebody asks for it: a server at rest should not hold it in memory.
  let document: { openapi: string } | undefined
  const all: Route[] = [
    ...routes,
    route({
      method: 'GET',
      path: '/openapi.json',
      tag: 'Server',
      summary: 'This reference, as an OpenAPI 3.1 document',
      needs: 'anyone',
      reply: z.looseObject({ openapi: z.string() }),
      handle: () => {
        document ??= { openapi: '3.1.0', ...openApiDocument(all, { title: 'svc', version }) }
        return document
      },
    }),
  ]
  return all
}
