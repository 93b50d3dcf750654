import { type Permission, permissions } from '@svc/protocol/permissions'
import type { App } from '../../packages/server/src/app.ts'
import { permissionsNamed } from '../../packages/server/src/kernel/frame.ts'
import { needsNamed } from '../../packages/server/src/kernel/route.ts'
import { code, printedFrom, table } from './markdown.ts'

type Tables = Pick<App, 'routes' | 'frames'>

export function permissionsPage(tables: Tables): string {
  const rows = permissions.map((permission) => [
    code(permission),
    [...routesThatNeed(permission, tables), ...commandsThatNeed(permission, tables)].map(code).join(', ') || '–',
  ])
  return `# Permissions

${printedFrom('the permissions of the contract, the route table and the frame table of the server')}

This is the whole vocabulary. A route, a [command on a socket](websocket.md) and an access-control entry can only name one
of these words; \`*\` stands for all of them. \`code-in-shared-terminals\` decides, like \`share-terminals\`, whether who
joins a shared terminal may type. Another word that nothing needs belongs to a part of the server that is not built yet.

${table(['Permission', 'Routes and commands that need it'], rows)}
`
}

const routesThatNeed = (permission: Permission, { routes }: Tables): string[] =>
  routes
    .filter(
      ({ needs }) => typeof needs === 'object' && needsNamed(needs).some((need) => need.permission === permission),
    )
    .map((row) => `${row.method} ${row.path}`)

const commandsThatNeed = (permission: Permission, { frames }: Tables): string[] =>
  Object.entries(frames).flatMap(([command, row]) =>
    row.scope !== 'connection' && permissionsNamed(row.needs).includes(permission) ? [command] : [],
  )
