/** Prints the performance table of this machine and fails when a budget is broken. `npm run bench [word]` picks lines. */
import { isKept, printTable } from './figure.ts'
import { authenticatedGet } from './http.ts'
import { listing } from './listing.ts'
import { parallelLogins } from './logins.ts'
import { agentMemory, idleMemory } from './memory.ts'
import { permissionCheck } from './permissions.ts'
import { keystrokeEcho, terminalFlood } from './terminals.ts'
import { transfers } from './transfers.ts'
import { parallelStarts, workspaceStarts } from './workspace-starts.ts'

const benches = {
  authenticatedGet,
  idleMemory,
  permissionCheck,
  parallelLogins,
  workspaceStarts,
  parallelStarts,
  listing,
  agentMemory,
  transfers,
  terminalFlood,
  keystrokeEcho,
}
const wanted = process.argv[2]?.toLowerCase() ?? ''

const figures = []
for (const [name, measure] of Object.entries(benches)) {
  if (name.toLowerCase().includes(wanted)) figures.push(...[await measure()].flat())
}
console.log(printTable(figures))
process.exit(figures.every(isKept) ? 0 : 1)
