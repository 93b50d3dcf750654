import { exampleOf } from './example.ts'
import type { ApiOperation } from './operations.ts'

/**
 * The operation as a shell command. What only the caller knows stands as a shell variable: `$TOKEN`,
 * `$WORKSPACE_ID`. `document` is where schema references lead, `server` the address without closing slash.
 */
export function curlExample(document: unknown, server: string, operation: ApiOperation): string {
  const method = operation.method === 'GET' ? '' : `-X ${operation.method} `
  const lines = [
    `curl ${method}"${server}${asShellVariables(operation.path)}${requiredQuery(operation)}"`,
    ...(operation.needsSignIn ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...bodyOptions(document, operation),
  ]
  return lines.join(' \\\n  ')
}

function asShellVariables(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => shellVariable(name))
}

function requiredQuery({ parameters }: ApiOperation): string {
  const pairs = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${name}=${shellVariable(name)}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function shellVariable(name: string): string {
  return `$${name.replaceAll(/\W/g, '_').toUpperCase()}`
}

function bodyOptions(document: unknown, { body }: ApiOperation): string[] {
  const [content] = body?.contents ?? []
  if (!content) return []
  if (content.mediaType === 'multipart/form-data') return ["-F 'file=@file'"]
  if (!content.mediaType.includes('json')) {
    return [`-H 'Content-Type: ${content.mediaType}'`, '--data-binary @file']
  }
  const example = JSON.stringify(exampleOf(document, content.schema ?? {}), null, 2)
  return [`-H 'Content-Type: ${content.mediaType}'`, `-d ${singleQuoted(example)}`]
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
