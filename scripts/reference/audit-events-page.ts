import { auditEvents } from '@svc/protocol/audit-events'
import { code, printedFrom, table } from './markdown.ts'

export function auditEventsPage(): string {
  const rows = Object.entries(auditEvents).map(([name, meaning]) => [code(name), meaning])
  return `# Audit events

${printedFrom('the audit events of the contract')}

An audit row says what happened, who did it, to what, when and from where. A change and its row are written in one
transaction, and the row is never changed. \`GET /api/v1/events/audit\` lists the rows, newest first, for holders of \`manage-events\` on
\`/events\`; its filters \`event\`, \`actor\` and \`target\` take parts of words. The names never change their meaning.

${table(['Event', 'When it is written'], rows)}
`
}
