// Stands in for the agent in tests of engines: it says hello, and runs the JavaScript it is sent. Each line of a
// connection is a JSON string with the body of an async function; each answer is a line of JSON.
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

const AsyncFunction = (async () => {}).constructor

const server = createServer(async (socket) => {
  socket.on('error', () => {})
  socket.write('"hello"\n')
  for await (const line of createInterface({ input: socket })) {
    let answer
    try {
      answer = { value: await new AsyncFunction('load', JSON.parse(line))((name) => import(name)) }
    } catch (error) {
      answer = { error: String(error) }
    }
    if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`)
  }
})
fs.rmSync('/run/svc/agent.sock', { force: true })
server.listen('/run/svc/agent.sock', () => {
  fs.chmodSync('/run/svc/agent.sock', 0o600)
  // Whoever runs the engine without root is this user of ours, and nobody else in here.
  const { uid, gid } = fs.statSync('/run/svc')
  if (uid !== process.getuid()) fs.chownSync('/run/svc/agent.sock', uid, gid)
})
process.on('SIGTERM', () => process.exit(0))
