import { errorCodes } from '@svc/protocol/errors'
import { STATUS } from '../../packages/server/src/http/status.ts'
import { code, printedFrom, table } from './markdown.ts'

export function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(([name, meaning]) => [
    code(name),
    String(STATUS[name as keyof typeof errorCodes]),
    meaning,
  ])
  return `# Error codes

${printedFrom('the error codes of the contract and their HTTP statuses')}

A refusal is JSON. \`detail\` is a sentence for people, \`code\` is for programs and never changes its meaning,
\`request_id\` finds the request in the log of the server. It is also in the header \`X-Request-Id\` of every answer.

\`\`\`json
{ "detail": "Not Found", "code": "not_found", "request_id": "5d3c1a90-2f" }
\`\`\`

Two bodies differ:

- \`invalid_request\` has a list as its \`detail\`, with one object for each problem: \`type\`, \`loc\` (\`body\`, \`query\` or
  \`path\`, then the way to the field), \`msg\`, and \`input\`, which is always null for a body.
- \`step_up_required\` is exactly \`{"error":"step_up_required"}\`.

${table(['Code', 'Status', 'Meaning'], rows)}
`
}
