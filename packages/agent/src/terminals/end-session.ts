import { readdirSync, readFileSync } from 'node:fs'
import { endGroup, signalGroup } from '../exec/process-group.ts'

interface ProcessRow {
  readonly group: number
  readonly session: number
  /** The group that has the terminal. */
  readonly foreground: number
}

/**
 * Tells all programs of some terminals that their windows were closed. The shells and what runs in front are ended by
 * force when they do not care. What a person left in the background deaf to that, with `nohup`, goes on.
 */
export function endSessions(shells: readonly number[]): void {
  const rows = readProcesses().filter(({ session }) => shells.includes(session))
  const inFront = new Set([...shells, ...rows.map(({ foreground }) => foreground)])
  for (const group of new Set(rows.map((row) => row.group))) {
    if (inFront.has(group)) endGroup(group, 'SIGHUP')
    else signalGroup(group, 'SIGHUP')
    // A program that is stopped hears nothing until it goes on.
    signalGroup(group, 'SIGCONT')
  }
}

function readProcesses(): ProcessRow[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const row = readProcess(name)
      return row ? [row] : []
    })
}

function readProcess(pid: string): ProcessRow | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before it is in brackets, and may hold spaces and brackets itself.
    const [, , group, session, , foreground] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { group: Number(group), session: Number(session), foreground: Number(foreground) }
  } catch {
    // It ended meanwhile.
    return undefined
  }
}
