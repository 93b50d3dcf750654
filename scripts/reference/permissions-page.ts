import { permissions } from '@svc/protocol/permissions'
import { needsNamed, type Route } from '../../packages/server/src/kernel/route.ts'
import { code, printedFrom, table } from './markdown.ts'

export function permissionsPage(routes: readonly Route[]): string {
  const rows = permissions.map((permission) => [code(permission), routesThatNeed(permission, routes)])
  return `# Permissions

${printedFrom('the permissions of the contract and the route table of the server')}

This is the whole vocabulary. A route, a socket frame and an access-control entry can only name one of these words; \`*\`
stands for all of them. A word that no route needs belongs to a part of the server that is not built yet.

${table(['Permission', 'Routes that need it'], rows)}
`
}

function routesThatNeed(permission: string, routes: readonly Route[]): string {
  const needed = routes.filter(
    ({ needs }) => typeof needs === 'object' && needsNamed(needs).some((need) => need.permission === permission),
  )
  return needed.map((row) => code(`${row.method} ${row.path}`)).join(', ') || '–'
}
