import { spawn } from 'node:child_process'

/** For programs of the host: nothing of the server's own environment, which holds secrets. */
export const programEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
}

/** Runs a program to its end. Code null when it could not be started, or a signal ended it. */
export function runProgram(file: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      env: programEnvironment,
      // The fourth is for a sandbox, which tells there what became of its command, and needs it to be there.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text))
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}
