#!/usr/bin/env node
// Lets programs in a workspace use the ssh agent of this machine, until it is ended: `forward.mjs <workspace id>`.
// The keys stay here. Each use is a question to the agent of this machine, which can be set to confirm it (`ssh-add -c`).
//
//     export SVC_URL=https://svc.example.com SVC_TOKEN=…
//     ./forward.mjs <workspace id>
import { connect } from 'node:net'
import process from 'node:process'
import WebSocket from 'ws'

const SSH_AGENT = 6
const HEAD_BYTES = 13

// biome-ignore lint/style/noProcessEnv: a token among the arguments could be seen by everybody on the machine
const { SVC_URL: url, SVC_TOKEN: token, SSH_AUTH_SOCK: agentSocket } = process.env
const [workspaceId] = process.argv.slice(2)
if (!url || !token || !workspaceId) {
  process.stderr.write('usage: SVC_URL=… SVC_TOKEN=… forward.mjs <workspace id>\n')
  process.exit(2)
}
if (!agentSocket) fail('there is no ssh agent here: SSH_AUTH_SOCK is not set')

// The token travels in a header, never in the address, which proxies write to their logs.
const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, ['bearer', token])
/** Connections to the agent of this machine, by the number that the server gave each. */
const connections = new Map()
const say = (frame) => socket.readyState === socket.OPEN && socket.send(JSON.stringify(frame))

socket.on('open', () => {
  say({ cmd: 'hello', v: 1, client: 'forward', caps: ['bin', 'ssh2'] })
  say({ cmd: 'workspace_connect', workspaceId })
})
socket.on('message', (message, isBinary) => {
  if (isBinary) takeBytes(message)
  else takeFrame(JSON.parse(message.toString()))
})
socket.on('error', (error) => fail(error.message))
socket.on('close', (code, reason) => fail(`the connection ended: ${reason.toString() || code}`))

function takeFrame(frame) {
  if (frame.type === 'container_ready') say({ cmd: 'ssh_agent_start' })
  else if (frame.type === 'ssh_agent_started') process.stdout.write(`forwarded to ${frame.socket}\n`)
  else if (frame.type === 'ssh_agent_open') open(frame.conn)
  else if (frame.type === 'ssh_agent_close') connections.get(frame.conn)?.end()
  else if (frame.type === 'ssh_agent_stopped') fail('the agent is no longer forwarded')
  else if (frame.type === 'error') fail(frame.message)
}

function open(conn) {
  const connection = connect(agentSocket)
  connections.set(conn, connection)
  connection.on('data', (bytes) => {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt8(SSH_AGENT, 0)
    head.writeUInt32BE(conn, 1)
    socket.send(Buffer.concat([head, bytes]))
  })
  connection.on('error', (error) => process.stderr.write(`forward: the ssh agent: ${error.message}\n`))
  connection.on('close', () => {
    connections.delete(conn)
    say({ cmd: 'ssh_agent_close', conn })
  })
}

/** kind (1 byte) · connection (4) · offset (8) · payload */
function takeBytes(message) {
  if (message[0] === SSH_AGENT) connections.get(message.readUInt32BE(1))?.write(message.subarray(HEAD_BYTES))
}

function fail(why) {
  process.stderr.write(`forward: ${why}\n`)
  process.exit(1)
}
