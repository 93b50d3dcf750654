import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Enough to see what went wrong. */
const KEPT_LINES = 40
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** A person has ended us: nothing more is to be begun. */
export class Interrupted extends Error {}

/**
 * Runs a command whose lines nobody wants to read unless it fails; `onLine` hears each of them. When we are told to end,
 * the command is told, too, and waited for: nothing may be tidied up under a program that still writes.
 */
export async function runQuietly(command, args, { onLine = () => undefined, ...options } = {}) {
  // In a process group of its own, so that one signal ends all that it started.
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...options })
  let wasInterrupted = false
  const passOn = () => {
    wasInterrupted = true
    process.kill(-child.pid, 'SIGTERM')
  }
  for (const signal of ENDING) process.on(signal, passOn)
  const last = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      last.push(line)
      if (last.length > KEPT_LINES) last.shift()
      onLine(line)
    })
  }
  try {
    const code = await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    if (wasInterrupted) throw new Interrupted(`${command} was ended early`)
    if (code !== 0) throw new Error(`${command} failed with exit code ${code}:\n${last.join('\n')}`)
  } finally {
    for (const signal of ENDING) process.off(signal, passOn)
  }
}
