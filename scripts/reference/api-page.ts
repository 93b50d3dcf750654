import { needsInWords, openApiDocument } from '../../packages/server/src/http/openapi.ts'
import { type Access, API_PREFIX, type Route } from '../../packages/server/src/kernel/route.ts'
import { code, printedFrom, table } from './markdown.ts'

/** A new word for who may call does not compile without its explanation. */
const ACCESS: Record<Extract<Access, string>, string> = {
  anyone: 'no sign-in is looked at',
  'anyone, better signed in': 'a signed-in caller is told more',
  'signed in': 'any account that may use the server',
  'signed in, password change due': 'also an account that must choose a new password first',
  'anyone, judged by token': 'the route judges the session token itself, also one that is used up, or none',
  operator: 'a caller at a loopback address, or the bearer of `SVCD_METRICS_TOKEN`',
}

export function apiPage(routes: readonly Route[]): string {
  const refusals = refusalsByOperation(routes)
  const sections = [...Map.groupBy(routes, (row) => row.tag)].map(([tag, rows]) => {
    const lines = rows.map((row) => [
      row.method,
      code(row.path),
      needsInWords(row.needs),
      row.summary,
      (refusals.get(operationKey(row)) ?? []).map(code).join(', '),
    ])
    return `## ${tag}\n\n${table(['Method', 'Path', 'Who may call', 'What it does', 'Refusals'], lines)}\n`
  })
  return `# HTTP API

${printedFrom('the route table of the server')}

The shapes of requests and answers are in the OpenAPI 3.1 document that a running server gives at
\`${API_PREFIX}/openapi.json\`, and on the page *API reference* of its web interface. What the refusals mean and how they
look is in [Error codes](errors.md).

Who may call:

${table(
  ['Word', 'Meaning'],
  Object.entries(ACCESS).map(([word, meaning]) => [word, meaning]),
)}

A permission on a resource means: signed in and holding that permission there.
\`GET\` routes answer \`HEAD\` too.

${sections.join('\n')}`
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

/** Read back from the OpenAPI document, which adds to each row's own refusals those that follow from its shape. */
function refusalsByOperation(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const { paths } = openApiDocument(routes, { title: '', version: '' }) as {
    paths: Record<string, Record<string, Operation>>
  }
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => [`${method} ${path}`, codesIn(responses)] as const),
    ),
  )
}

const operationKey = (row: Route): string => `${row.method.toLowerCase()} ${row.path.replace(/:(\w+)/g, '{$1}')}`

/** Each line of a refusal's description begins with its code. */
const codesIn = (responses: Operation['responses']): string[] =>
  Object.values(responses).flatMap(({ description }) =>
    [...description.matchAll(/^`(\w+)`:/gm)].map(([, found]) => found ?? ''),
  )
