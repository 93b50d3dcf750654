import { exitCodeMeanings } from './exit-codes.ts'

export const HELP = `svcd: the server of containerised developer workspaces

  svcd                    run the server, configured by the environment and a file
  svcd settings           print every setting: its value, where it comes from, its default
  svcd backup <file>      write a consistent copy of the database, also while the server runs
  svcd doctor [--json]    check this machine for what workspaces need; exit code 1 when something is missing
  svcd --help             this text

  --config <path>|none    read this file instead of $SVCD_CONFIG_DIR/svcd.yaml, or none at all

SVCD_STATE_DIR and SVCD_DATA_DIR must be set. SIGHUP reads the settings again; SIGTERM and SIGINT finish the
requests under way and stop; a second one forces the end.

Exit codes:
${Object.entries(exitCodeMeanings)
  .map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`)
  .join('\n')}
`
