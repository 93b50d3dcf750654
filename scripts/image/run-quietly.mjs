import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Enough to see what went wrong. */
const KEPT_LINES = 40

/** Runs a command whose lines nobody wants to read unless it fails; `onLine` hears each of them. */
export async function runQuietly(command, args, { onLine = () => undefined, ...options } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const last = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      last.push(line)
      if (last.length > KEPT_LINES) last.shift()
      onLine(line)
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`${command} failed with exit code ${code}:\n${last.join('\n')}`)
}
