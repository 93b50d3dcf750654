#!/usr/bin/env node
// A remote shell for rsync, and for everything else that takes one as ssh is used: `remote-shell.mjs <workspace id> <command>`.
// It runs the command in the workspace, with standard input, output and error joined to its own.
//
//     export SVC_URL=https://svc.example.com SVC_TOKEN=…
//     rsync -a -e ./remote-shell.mjs src/ <workspace id>:src/
import process from 'node:process'
import WebSocket from 'ws'

const STDOUT = 3
const STDERR = 4
const STDIN = 5
const HEAD_BYTES = 13

// biome-ignore lint/style/noProcessEnv: a token among the arguments could be seen by everybody on the machine
const { SVC_URL: url, SVC_TOKEN: token } = process.env
const [workspaceId, ...words] = process.argv.slice(2)
if (!url || !token || !workspaceId || words.length === 0) {
  process.stderr.write('usage: SVC_URL=… SVC_TOKEN=… remote-shell.mjs <workspace id> <command>\n')
  process.exit(2)
}

// The token travels in a header, never in the address, which proxies write to their logs.
const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, ['bearer', token])
let isEnding = false
const say = (frame) => socket.send(JSON.stringify(frame))

socket.on('open', () => {
  say({ cmd: 'hello', v: 1, client: 'remote-shell', caps: ['bin', 'exec2'] })
  say({ cmd: 'workspace_connect', workspaceId })
})

socket.on('message', (message, isBinary) => {
  if (isBinary) takeBytes(message)
  else takeFrame(JSON.parse(message.toString()))
})
socket.on('error', (error) => end(255, error.message))
socket.on('close', (code, reason) => end(255, `the connection ended: ${reason.toString() || code}`))
// Whoever read what we write is gone, as with `| head`.
for (const output of [process.stdout, process.stderr]) output.on('error', () => end(255))

function takeFrame(frame) {
  if (frame.type === 'container_ready') {
    // As ssh does it: the words are one line for the shell over there. Who calls us has quoted them for that.
    say({ cmd: 'exec_start', exec_id: 'remote', command: ['sh', '-c', words.join(' ')] })
  } else if (frame.type === 'exec_started') {
    void sendInput(frame.channel)
  } else if (frame.type === 'exec_exit') {
    end(frame.code)
  } else if (frame.type === 'error') {
    end(255, frame.message)
  }
}

/** kind (1 byte) · channel (4) · offset (8) · payload */
function takeBytes(message) {
  const output = message[0] === STDOUT ? process.stdout : message[0] === STDERR ? process.stderr : undefined
  if (!output || output.write(message.subarray(HEAD_BYTES))) return
  // Nobody reads what we write: take no more until somebody does.
  socket.pause()
  output.once('drain', () => socket.resume())
}

async function sendInput(channel) {
  for await (const bytes of process.stdin) {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt8(STDIN, 0)
    head.writeUInt32BE(channel, 1)
    await new Promise((sent) => socket.send(Buffer.concat([head, bytes]), sent))
  }
  say({ cmd: 'exec_close_stdin', exec_id: 'remote' })
}

/** What was written before goes out first. */
async function end(code, why) {
  if (isEnding) return
  isEnding = true
  if (why) process.stderr.write(`remote-shell: ${why}\n`)
  for (const output of [process.stdout, process.stderr]) await new Promise((written) => output.write('', written))
  process.exit(code)
}
