import type { RequestHandler, RequestTable } from './dispatch.ts'
import { exec } from './exec/exec.ts'
import type { Files } from './files/files.ts'
import { checkHealth } from './health-check.ts'
import { memberId } from './member-id.ts'
import type { Places } from './places.ts'
import { prepareMemberHome } from './setup/member-home.ts'
import type { Setup } from './setup/setup.ts'
import type { TokenFile } from './setup/token-file.ts'
import type { SshAgents } from './ssh-agent/ssh-agents.ts'
import type { Terminals } from './terminals/terminals.ts'
import type { Workspace } from './workspace.ts'

/** Longer checks make no sense, and a timer would not take them. */
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000

export interface TableParts {
  readonly workspace: Workspace
  readonly places: Places
  readonly setup: Setup
  readonly token: TokenFile
  readonly terminals: Terminals
  readonly files: Files
  readonly sshAgents: SshAgents
}

/** What the agent answers, one row for each request. All but the first two need a workspace that is set up. */
export function requestTable(parts: TableParts): RequestTable {
  const { workspace, places, setup, token, terminals, files, sshAgents } = parts
  const ready =
    (handler: RequestHandler): RequestHandler =>
    async (fields, channel) => {
      workspace.requireReady()
      await handler(fields, channel)
    }
  return {
    setup: (fields) => setup.run(fields),
    ping: async () => {},
    'terminal.open': ready(async (fields) => terminals.open(fields)),
    'terminal.attach': ready((fields, channel) => terminals.attach(fields, channel)),
    'terminal.list': ready(async (_, channel) => terminals.list(channel)),
    'terminal.label': ready(async (fields) => terminals.label(fields)),
    'terminal.close': ready(async (fields) => terminals.close(fields)),
    exec: ready((fields, channel) => exec(fields, channel, workspace.env)),
    'health.check': ready(async (fields, channel) => {
      const timeoutMs = fields.integer('timeout_ms', { min: 1, max: MAX_TIMEOUT_MS })
      const checked = await checkHealth(fields.word('command'), { timeoutMs, env: workspace.env })
      channel.message({ type: 'checked', ...checked })
    }),
    'files.list': ready((fields, channel) => files.list(fields, channel)),
    'files.stat': ready((fields, channel) => files.stat(fields, channel)),
    'files.read': ready((fields, channel) => files.read(fields, channel)),
    'files.archive': ready((fields, channel) => files.archive(fields, channel)),
    'files.write': ready((fields, channel) => files.write(fields, channel)),
    'files.rename': ready((fields) => files.rename(fields)),
    'files.remove': ready((fields) => files.remove(fields)),
    'files.make_directory': ready((fields) => files.makeDirectory(fields)),
    'token.write': ready((fields) => token.write(fields.word('token'))),
    'home.prepare': ready((fields) => prepareMemberHome(places, memberId(fields), fields.word('handle'))),
    'ssh_agent.listen': ready((fields, channel) => sshAgents.listen(fields, channel)),
    'ssh_agent.accept': ready((fields, channel) => sshAgents.accept(fields, channel)),
  }
}
