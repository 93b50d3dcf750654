import type { Variables } from '../environment.ts'
import { loginShell } from '../shells.ts'

export interface Program {
  readonly file: string
  readonly args: readonly string[]
}

/** Other terminals are open in the agent, and a fork inherits them; a shell must not hold them. */
const CLOSE_INHERITED =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is for the shell.
  'for fd in /proc/$$/fd/*; do fd=${fd##*/}; case $fd in 0|1|2|255) ;; *) eval "exec $fd>&-" ;; esac; done'

/**
 * Runs the command, shows how it ended, and leaves a login shell in its place, with the command as its latest one. The
 * interrupt key must end the command alone, not this.
 */
const SERVICE_SCRIPT = `trap : INT QUIT
"$0" -lc "$1"
status=$?
trap - INT QUIT
printf %s "$status" > "$2"
printf '\\n[The service ended with status %s]\\n' "$status"
SVCWS_SERVICE=$1 PROMPT_COMMAND='history -s -- "$SVCWS_SERVICE"; unset SVCWS_SERVICE PROMPT_COMMAND' exec "$0" -l`

export function shellProgram(env: Variables): Program {
  return withoutInherited(env.SHELL ?? loginShell(), ['-l'])
}

/** `statusFile` gets the status with which the command ended. */
export function serviceProgram(command: string, statusFile: string): Program {
  const shell = loginShell()
  return withoutInherited(shell, ['-c', SERVICE_SCRIPT, shell, command, statusFile])
}

/** Only bash can name so many files; without it they stay open. */
function withoutInherited(file: string, args: readonly string[]): Program {
  const shell = loginShell()
  if (!shell.endsWith('/bash')) return { file, args }
  return { file: shell, args: ['--norc', '--noprofile', '-c', `${CLOSE_INHERITED}; exec "$@"`, 'bash', file, ...args] }
}
