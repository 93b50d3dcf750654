import { OpenApiDocument } from '@svc/client/openapi'
import { expect, test } from 'vitest'
import { curlExample } from './curl-example.ts'
import { readOperations } from './operations.ts'
import { serverAddress } from './server-address.ts'

function curl(method: string, path: string, operation: object): string {
  const document = OpenApiDocument.parse({
    openapi: '3.1.0',
    info: { title: 'svc', version: '1' },
    paths: { [path]: { [method]: operation } },
    components: { schemas: { Mount: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } } },
  })
  return readOperations(document)
    .map((read) => curlExample(document, 'https://svc.test', read))
    .join()
}

const json = (schema: object) => ({ requestBody: { content: { 'application/json': { schema } } } })

test('an open GET is the address alone', () => {
  expect(curl('get', '/health', { security: [] })).toBe('curl "https://svc.test/health"')
})

test('what only the caller knows is a shell variable', () => {
  const operation = {
    security: [{ session: [] }],
    parameters: [
      { name: 'from-date', in: 'query', required: true },
      { name: 'page', in: 'query' },
    ],
  }
  expect(curl('delete', '/workspaces/{workspace_id}', operation)).toBe(
    'curl -X DELETE "https://svc.test/workspaces/$WORKSPACE_ID?from-date=$FROM_DATE" \\\n' +
      '  -H "Authorization: Bearer $TOKEN"',
  )
})

test('a body holds the required fields, with the first of several choices', () => {
  const schema = {
    type: 'object',
    required: ['name', 'mode', 'mounts', 'size', 'note', 'public'],
    properties: {
      name: { type: 'string', examples: ["it's mine"] },
      mode: { enum: ['static', 'allow'] },
      mounts: { type: 'array', items: { $ref: '#/components/schemas/Mount' } },
      size: { type: 'integer', minimum: 2 },
      note: { anyOf: [{ type: 'string', format: 'email' }, { type: 'null' }] },
      public: { type: 'boolean' },
      left_out: { type: 'string' },
    },
  }
  const [first, header, body = ''] = curl('post', '/workspaces', json(schema)).split(' \\\n  ')
  expect([first, header]).toEqual(['curl -X POST "https://svc.test/workspaces"', "-H 'Content-Type: application/json'"])
  expect(body).toContain("it'\\''s mine")
  expect(JSON.parse(body.slice("-d '".length, -1).replaceAll("'\\''", "'"))).toEqual({
    name: "it's mine",
    mode: 'static',
    mounts: [{ to: 'string' }],
    size: 2,
    note: '<email>',
    public: true,
  })
})

test.each([
  ['multipart/form-data', "-F 'file=@file'"],
  ['application/gzip', "-H 'Content-Type: application/gzip' \\\n  --data-binary @file"],
])('a body of %s is read from a file', (mediaType, options) => {
  expect(curl('post', '/import', { requestBody: { content: { [mediaType]: {} } } })).toBe(
    `curl -X POST "https://svc.test/import" \\\n  ${options}`,
  )
})

test.each([
  { servers: undefined, address: 'https://svc.test/base' },
  { servers: [{ url: '/' }], address: 'https://svc.test/base' },
  { servers: [{ url: '/other/' }], address: 'https://svc.test/other' },
  { servers: [{ url: 'https://api.test' }], address: 'https://api.test' },
])('with servers $servers paths begin at $address', ({ servers, address }) => {
  expect(serverAddress(servers, new URL('https://svc.test/base/'))).toBe(address)
})
