#!/usr/bin/env node
// A terminal in a workspace: `shell.mjs <workspace id>` shows your shell there, and ends with its exit code.
// Ctrl-] leaves; the shell lives on, and the next start shows it again. A lost connection is made anew, and nothing that
// was shown meanwhile is missed. Without a terminal here, standard input is typed, and its end is Ctrl-D.
//
//     export SVC_URL=https://svc.example.com SVC_TOKEN=…
//     ./shell.mjs <workspace id>
//     ./shell.mjs <workspace id> --share                            lets others see it; --unshare ends that
//     ./shell.mjs <workspace id> --watch                            lists what others share
//     ./shell.mjs <workspace id> --watch <user id> <window id>      shows one of these
import process from 'node:process'
import WebSocket from 'ws'

const OUTPUT = 1
const INPUT = 2
const SCREEN = 7
const SCREEN_PART = 8
const HEAD_BYTES = 13
const ACK_BYTES = 256 * 1024
const HEARTBEAT_MS = 60_000
const FIRST_PAUSE_MS = 250
const LAST_PAUSE_MS = 10_000
const CTRL_D = 4
const CTRL_D_EVERY_MS = 1000
const CTRL_RIGHT_BRACKET = 29
/** Undoes what a program over there may have left: other screen, mouse, bracketed paste, hidden cursor, colours. */
const PLAIN = '\x1b[?1049l\x1b[?1000;1002;1003;1006l\x1b[?2004l\x1b[?25h\x1b[0m'
/** Ends of a connection that another try does not help against. */
const REFUSALS = {
  4001: 'this token is not, or no longer, good: sign in anew',
  4002: 'the time of this token is over: sign in anew',
  4004: 'this account must choose a new password first',
  4044: 'there is no such server at this address',
}
const ENDS = { kicked: 'it is no longer shared with you, or allowed', container: 'the workspace has stopped' }

// biome-ignore lint/style/noProcessEnv: a token among the arguments could be seen by everybody on the machine
const { SVC_URL: url, SVC_TOKEN: token } = process.env
const [workspaceId, option, userId, watchedId] = process.argv.slice(2)
if (!url || !token || !workspaceId || ![undefined, '--share', '--unshare', '--watch'].includes(option)) {
  process.stderr.write('usage: SVC_URL=… SVC_TOKEN=… shell.mjs <workspace id> [--share | --unshare | --watch …]\n')
  process.exit(2)
}

const { stdin, stdout, stderr } = process
let socket
let pauseMs = FIRST_PAUSE_MS
let isShown = false
let isSilent = false
let isEnding = false
/** What is shown, and how far we are in its output: from there a new connection goes on. */
let windowId
let channel = 0
let place
let acknowledged = 0

const say = (frame) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(frame))
const size = () => ({ cols: stdout.columns, rows: stdout.rows })

stdin.pause()
stdin.on('data', (bytes) => {
  if (stdin.isTTY && bytes.length === 1 && bytes[0] === CTRL_RIGHT_BRACKET) end(0)
  else type(bytes)
})
stdin.on('end', finish)
stdout.on('resize', () => say({ cmd: 'terminal_resize', ...size() }))
// Whoever read what we write is gone, as with `| head`.
stdout.on('error', () => end(1))
setInterval(() => {
  if (isSilent) socket.terminate()
  isSilent = true
  say({ cmd: 'heartbeat', req: 'heartbeat' })
}, HEARTBEAT_MS)
connect()

function connect() {
  // The token travels in a header, never in the address, which proxies write to their logs.
  socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, ['bearer', token], { handshakeTimeout: LAST_PAUSE_MS })
  let failure
  socket.on('open', () => {
    say({ cmd: 'hello', v: 1, client: 'shell', caps: ['bin', 'flow', 'resume', 'exit', 'size', 'req'] })
    say({ cmd: 'workspace_connect', workspaceId })
  })
  socket.on('message', (message, isBinary) => {
    isSilent = false
    if (isBinary) takeBytes(message)
    else takeFrame(JSON.parse(message.toString()))
  })
  socket.on('error', (error) => {
    failure = error.message || error.code
  })
  socket.on('close', (code, reason) => {
    if (REFUSALS[code]) return end(1, REFUSALS[code])
    if (isEnding) return
    const why = failure ?? (reason.toString() || `the connection ended (${code})`)
    if (isShown || pauseMs === FIRST_PAUSE_MS) stderr.write(`shell: ${why}; trying again until Ctrl-C\n`)
    show(false)
    isSilent = false
    setTimeout(connect, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)
  })
}

function takeFrame(frame) {
  if (frame.type === 'container_ready') start()
  else if (frame.type === 'terminal_started') begin(frame)
  else if (frame.type === 'terminal_resized') takeSize(frame)
  else if (frame.type === 'terminal_exited') end(frame.reason === 'exited' ? (frame.code ?? 0) : 1, ENDS[frame.reason])
  else if (frame.type === 'shared_terminals' && option === '--watch' && !userId) list(frame.terminals)
  else if (frame.type === 'error' && frame.code === 'draining') socket.close()
  else if (frame.type === 'error') end(1, frame.message)
}

function start() {
  if (option !== '--watch') return say({ cmd: 'terminal_start', ...size(), window_id: windowId, resume: place })
  if (!userId) return say({ cmd: 'list_shared_terminals' })
  say({ cmd: 'terminal_resize', ...size() })
  say({ cmd: 'join_shared_terminal', user_id: userId, window_id: watchedId ?? '', resume: place })
}

function begin(started) {
  ;({ channel, window_id: windowId, offset: acknowledged } = started)
  // Without what came before, a screen follows. Until it is complete there is no place to go on from.
  if (!started.resumed) place = undefined
  pauseMs = FIRST_PAUSE_MS
  show(true)
  takeSize(started)
  if (option === '--share') say({ cmd: 'share_window', window_id: windowId })
  if (option === '--unshare') say({ cmd: 'unshare_window', window_id: windowId })
}

/** Raw while a terminal is shown, so that every key goes there. Otherwise Ctrl-C ends this program, as usual. */
function show(shown) {
  isShown = shown
  if (stdin.isTTY) stdin.setRawMode(shown)
  if (shown) stdin.resume()
  else stdin.pause()
}

/** Who watches sees a terminal of somebody else's size, and asks their own to be as large. */
function takeSize({ cols, rows }) {
  if (option === '--watch' && stdout.isTTY) stdout.write(`\x1b[8;${rows};${cols}t`)
}

/** kind (1 byte) · channel (4) · offset (8) · payload */
function takeBytes(message) {
  const [kind] = message
  if (kind !== OUTPUT && kind !== SCREEN && kind !== SCREEN_PART) return
  const payload = message.subarray(HEAD_BYTES)
  const offset = Number(message.readBigUInt64BE(5)) + (kind === OUTPUT ? payload.length : 0)
  place = kind === SCREEN_PART ? undefined : { channel: message.readUInt32BE(1), offset }
  if (kind === SCREEN) acknowledged = offset
  stdout.write(payload, () => kind === OUTPUT && acknowledge(offset))
}

/** Somebody who looks at nothing here holds up the program over there, and loses nothing. */
function acknowledge(offset) {
  if (offset - acknowledged < ACK_BYTES) return
  acknowledged = offset
  say({ cmd: 'terminal_ack', channel, offset })
}

/** One piece at a time: no more is read here than is taken there. */
function type(bytes) {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(INPUT, 0)
  head.writeUInt32BE(channel, 1)
  stdin.pause()
  socket.send(Buffer.concat([head, bytes]), () => isShown && stdin.resume())
}

/** More than once, because a shell that is just busy with something else does not see it. */
function finish() {
  if (isShown) type(Buffer.of(CTRL_D))
  setTimeout(finish, CTRL_D_EVERY_MS)
}

function list(terminals) {
  for (const { user_id, window_id, handle, window_name, viewers } of terminals)
    stdout.write(`${user_id} ${window_id}  ${handle}: ${window_name}, ${viewers.length} watching\n`)
  end(0)
}

/** What was written before goes out first. */
async function end(code, why) {
  if (isEnding) return
  isEnding = true
  show(false)
  if (stdout.isTTY) stdout.write(PLAIN)
  if (why) stderr.write(`shell: ${why}\n`)
  for (const output of [stdout, stderr]) await new Promise((written) => output.write('', written))
  process.exit(code)
}
