import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { FuzzFrames } from '../testing/fuzz-frames.ts'
import { connect, makeWorkspace, openLocalEngine } from '../testing/live-workspace.ts'
import type { SocketClient } from '../testing/socket-client.ts'
import { startAccounts, succeed } from '../testing/start-accounts.ts'

const FRAMES = 100_000
const SOCKETS = 20
/** Fewer than what closes a socket for malformed messages. The clock moves on between the rounds, as it would. */
const PER_ROUND = 80
/** So often everybody is in the workspace again, whatever sent them out of it. */
const ROUNDS_INSIDE = 8
const SEED = 20_260_115

/** Knows how many of its timers are set. */
class CountingClock extends FakeClock {
  set = 0

  override after(delayMs: number, work: () => void): () => void {
    let isSet = true
    this.set++
    const over = () => {
      if (isSet) this.set--
      isSet = false
    }
    const cancel = super.after(delayMs, () => {
      over()
      work()
    })
    return () => {
      over()
      cancel()
    }
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')
function heapUsed(): number {
  if (typeof collectGarbage === 'function') collectGarbage()
  return process.memoryUsage().heapUsed
}

test(`after ${FRAMES} strange messages nothing is broken, nothing is left over, and the same sockets still work`, {
  timeout: 120_000,
}, async () => {
  const clock = new CountingClock()
  await using server = await startAccounts({ openEngine: openLocalEngine, clock })
  const ann = await server.person('ann')
  const workspaceId = await makeWorkspace(ann)
  await succeed(ann.post(`/workspaces/${workspaceId}/start`))
  const running = () => server.app.lifecycle.requireRunning(workspaceId)
  const before = { calls: running().agent.callCount, timers: clock.set, heap: heapUsed() }

  const sockets: SocketClient[] = []
  for (let count = 0; count < SOCKETS; count++) {
    const socket = await server.socket(ann.token, count % 2 === 0 ? { caps: 'all' } : {})
    await connect(socket, workspaceId)
    sockets.push(socket)
  }
  const frames = new FuzzFrames(SEED, workspaceId)
  for (let sent = 0, round = 0; sent < FRAMES; round++) {
    for (const socket of sockets) {
      if (round % ROUNDS_INSIDE === 0) begin(socket, workspaceId)
      for (let count = 0; count < PER_ROUND; count++, sent++) socket.sendRaw(frames.next())
    }
    await Promise.all(sockets.map((socket) => socket.roundTrip()))
    for (const socket of sockets) socket.forget()
    clock.advance(10_000)
  }

  for (const socket of sockets) {
    await works(socket, workspaceId)
    socket.forget()
  }
  const errors = server.log.records.filter(({ level }) => level === 'ERROR' || level === 'CRITICAL')
  expect(errors).toEqual([])
  server.log.records.length = 0

  for (const socket of sockets) await socket.close()
  await expect.poll(() => server.app.attachments.in(workspaceId)).toEqual([])
  await expect.poll(() => running().agent.callCount, { timeout: 15_000 }).toBeLessThanOrEqual(before.calls)
  await expect.poll(() => clock.set).toBeLessThanOrEqual(before.timers + 2)
  expect(heapUsed() - before.heap).toBeLessThan(30 * 1024 * 1024)
})

function begin(socket: SocketClient, workspaceId: string): void {
  socket.send({ cmd: 'workspace_connect', workspaceId })
  socket.send({ cmd: 'terminal_start', cols: 80, rows: 24 })
  socket.send({ cmd: 'ssh_agent_start' })
  socket.send({ cmd: 'exec_start', command: ['cat'], exec_id: 'e1' })
}

/** Opens the workspace anew, shows a terminal and types a command. */
async function works(socket: SocketClient, workspaceId: string): Promise<void> {
  await connect(socket, workspaceId)
  socket.forget()
  socket.send({ cmd: 'terminal_start', cols: 80, rows: 24 })
  await socket.next('terminal_started')
  socket.send({ cmd: 'terminal_input', data: '\u0003' })
  socket.send({ cmd: 'terminal_input', data: '\r echo works-$((40 + 2))\r' })
  await socket.untilOutput('works-42')
}
