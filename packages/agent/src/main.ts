import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { umask } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { AGENT_PROTOCOL } from '@svc/protocol/agent/requests'
import { readArguments } from './arguments.ts'
import { serveConnection } from './connection.ts'
import { dispatcher } from './dispatch.ts'
import { Files } from './files/files.ts'
import { giveToServer } from './give-to-server.ts'
import { reportFault } from './report-fault.ts'
import { requestTable } from './request-table.ts'
import { Setup } from './setup/setup.ts'
import { TokenFile } from './setup/token-file.ts'
import { SshAgents } from './ssh-agent/ssh-agents.ts'
import { preloadTerminals } from './terminals/preload.ts'
import { Terminals } from './terminals/terminals.ts'
import { uniqueId } from './unique-id.ts'
import { Workspace } from './workspace.ts'

/** A fault in the agent itself, in the words of sysexits.h. */
const EXIT_FAULT = 70

function main(): void {
  // New objects stay in a small space: a flood of output would let it grow for good, to twice the memory we need.
  setFlagsFromString('--semi-space-growth-factor=1')
  process.on('uncaughtException', (error) => {
    reportFault(error)
    process.exit(EXIT_FAULT)
  })
  // The last one would open a debugger.
  for (const signal of ['SIGHUP', 'SIGPIPE', 'SIGINT', 'SIGUSR1'] as const) process.on(signal, () => {})

  const places = readArguments(process.argv.slice(2))
  const bootId = uniqueId()
  const workspace = new Workspace()
  const token = new TokenFile(places.runtime)
  const terminals = new Terminals({ workspace, statusFile: `${places.runtime}/service-status` })
  const setup = new Setup({
    places,
    workspace,
    token,
    startService: (command) => terminals.startService(command),
    preload: preloadTerminals,
  })
  const [files, sshAgents] = [new Files(places), new SshAgents()]
  const opened = dispatcher(requestTable({ workspace, places, setup, token, terminals, files, sshAgents }))
  process.on('SIGTERM', () => {
    terminals.hangUpAll()
    process.exit(0)
  })

  const server = createServer((socket) => {
    const hello = { type: 'hello', protocol: AGENT_PROTOCOL, boot_id: bootId, ready: workspace.isReady }
    serveConnection({ socket, hello, opened })
  })
  // One that an agent before us left behind. Between the name and its mode nobody else may get in.
  rmSync(places.socket, { force: true })
  const before = umask(0o177)
  server.listen(places.socket, () => {
    umask(before)
    chmodSync(places.socket, 0o600)
    giveToServer(places.socket)
  })
}

main()
