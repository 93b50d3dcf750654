import { OpenApiDocument } from '@svc/client/openapi'
import { expect, test } from 'vitest'
import { filterOperations } from './filter.ts'
import { groupByTag, readOperations } from './operations.ts'

const session = { session: [] }

const document = OpenApiDocument.parse({
  openapi: '3.1.0',
  info: { title: 'svc', version: '1' },
  tags: [{ name: 'Workspaces', description: 'Where people work' }, { name: 'Unused' }],
  paths: {
    '/health': {
      get: { summary: 'Tell whether the server works', tags: ['Health'], 'x-needs': 'anyone', security: [] },
    },
    '/config': { get: { tags: ['Health'], security: [{}, session] } },
    '/workspaces/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      delete: { summary: 'Delete a workspace', tags: ['Workspaces'], security: [session] },
      get: {
        summary: 'Read a workspace',
        tags: ['Workspaces'],
        security: [session],
        parameters: [{ name: 'fields', in: 'query' }, { $ref: '#/components/parameters/Gone' }],
        responses: { 404: { $ref: '#/components/responses/NotFound' } },
      },
    },
    '/loose': { post: { requestBody: { content: { 'application/json': { schema: true } } } } },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true } },
    responses: { NotFound: { description: 'Nothing there', content: { 'application/json': {} } } },
  },
})
const operations = readOperations(document)
const find = (id: string) => operations.find((operation) => operation.id === id)

test('operations are named by method and path, reading before removing', () => {
  expect(operations.map(({ id }) => id)).toEqual([
    'get-/health',
    'get-/config',
    'get-/workspaces/{id}',
    'delete-/workspaces/{id}',
    'post-/loose',
  ])
})

test('parameters of the path come before those of the operation, and references are followed', () => {
  expect(find('get-/workspaces/{id}')?.parameters.map(({ name }) => name)).toEqual(['id', 'fields'])
})

test('replies are followed too', () => {
  expect(find('get-/workspaces/{id}')?.replies).toEqual([
    { status: '404', description: 'Nothing there', contents: [{ mediaType: 'application/json', schema: undefined }] },
  ])
})

test.each([
  ['get-/health', false],
  ['get-/config', false],
  ['get-/workspaces/{id}', true],
])('%s needs sign-in: %s', (id, needed) => {
  expect(find(id)?.needsSignIn).toBe(needed)
})

test('groups follow the tag list, then first appearance, and none is empty', () => {
  expect(groupByTag(operations, document.tags).map(({ tag }) => tag)).toEqual(['Workspaces', 'Health', 'Other'])
})

test.each([
  ['', 5],
  ['  ', 5],
  ['DELETE', 1],
  ['workspace read', 1],
  ['fields', 1],
  ['health', 2],
  ['nothing like this', 0],
])('the filter "%s" leaves %i operations', (query, count) => {
  expect(filterOperations(operations, query)).toHaveLength(count)
})
