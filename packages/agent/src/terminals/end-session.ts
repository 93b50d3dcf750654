import { readdirSync, readFileSync } from 'node:fs'
import { endGroup, signalGroup } from '../exec/process-group.ts'

interface ProcessRow {
  readonly group: number
  readonly session: number
  /** The group that has the terminal. */
  readonly foreground: number
}

/**
 * Tells all programs of a terminal that its window was closed. The shell and what runs in front of it are ended by force
 * when they do not care. What a person left in the background deaf to that, with `nohup`, goes on.
 */
export function endSession(shell: number): void {
  const rows = readProcesses().filter(({ session }) => session === shell)
  const inFront = new Set([shell, ...rows.map(({ foreground }) => foreground)])
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
