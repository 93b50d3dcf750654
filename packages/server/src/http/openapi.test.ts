import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { route } from '../kernel/route.ts'
import { openApiDocument } from './openapi.ts'

const rows = [
  route({
    method: 'PATCH',
    path: '/workspaces/:id/settings',
    tag: 'Workspaces',
    summary: 'Change some settings',
    needs: { permission: 'edit-workspace', on: '/workspaces/:id' },
    params: z.object({ id: z.uuid() }),
    query: z.object({ dry_run: z.enum(['yes', 'no']).optional() }),
    body: z.object({ idle_timeout: z.int().nullable() }),
    reply: z.object({ status: z.literal('updated') }),
    refusals: ['conflict'],
    handle: () => ({ status: 'updated' as const }),
  }),
]

test('the table prints to a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(openApiDocument(rows, { title: 'svc', version: '1' }))
  expect(result).toMatchObject({ valid: true })
})

test('an operation says who may call it, what goes in and every way it can end', () => {
  const document = openApiDocument(rows, { title: 'svc', version: '1' })
  const operation = JSON.parse(JSON.stringify(document)).paths['/api/v1/workspaces/{id}/settings'].patch
  expect(operation['x-needs']).toBe('edit-workspace on /workspaces/{id}')
  expect(operation.security).toEqual([{ session: [] }])
  expect(operation.parameters).toMatchObject([
    { name: 'id', in: 'path', required: true },
    { name: 'dry_run', in: 'query', required: false },
  ])
  expect(operation.requestBody.content['application/json'].schema.required).toEqual(['idle_timeout'])
  expect(Object.keys(operation.responses)).toEqual(['200', '401', '403', '409', '413', '415', '422', '429', '500'])
})
