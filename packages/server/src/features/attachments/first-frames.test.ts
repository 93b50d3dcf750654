import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowOnly, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { recordingPeer } from '../../testing/recording-peer.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { FirstFrames } from './first-frames.ts'

let server: AccountsServer
let ann: Person
let mona: Person
let eve: Person
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  mona = await server.person('mona')
  eve = await server.person('eve')
})
afterAll(() => server[Symbol.asyncDispose]())

const SCHEDULE = { type: 'server_schedule', schedules: [] }

test('a new socket is told how the services do that its person may monitor, then what is planned, and no more', async () => {
  const checked = (command: string) => ({ setup_state: 'complete', health_check: { command, grace: 0 } })
  const ids = [
    await makeWorkspace(ann, checked('true')),
    await makeWorkspace(ann, checked('echo broken; false')),
    await makeWorkspace(ann),
  ]
  for (const id of ids) {
    await allowOnly(ann, id, [[mona, ['monitor-workspace']]])
    await succeed(ann.post(`/workspaces/${id}/start`))
  }
  server.clock.advance(0)
  await expect.poll(() => server.app.lifecycle.health()).toHaveLength(2)
  for (const person of [ann, mona]) {
    const socket = await server.socket(person.token)
    await socket.next('server_schedule')
    await socket.roundTrip()
    expect(socket.frames.slice(0, 3)).toEqual([
      {
        type: 'service_health',
        workspace_id: ids[0],
        healthy: true,
        health_message: null,
        running: true,
        health_checked_at: '2026-01-01T00:00:00+00:00',
        seq: 1,
      },
      expect.objectContaining({ workspace_id: ids[1], healthy: false, health_message: 'exited 1: broken', seq: 1 }),
      SCHEDULE,
    ])
    expect(story(socket).filter((what) => !what.startsWith('error'))).toHaveLength(3)
  }
  const stranger = await server.socket(eve.token)
  await stranger.roundTrip()
  expect(stranger.frames[0]).toEqual(SCHEDULE)
})

/** Rights are asked for, and meanwhile the health of the one workspace becomes what `meanwhile` says. */
async function sent(meanwhile: { healthy: boolean; seq: number } | undefined) {
  const { peer, frames } = recordingPeer()
  const report = { workspaceId: 'w', message: null, checkedAt: 0 }
  let reports = [{ ...report, healthy: true, seq: 4 }]
  const first = new FirstFrames({
    lifecycle: { health: () => reports },
    rights: {
      async allows() {
        reports = meanwhile ? [{ ...report, ...meanwhile }] : []
        return true
      },
    },
    log: new MemoryLog(),
  })
  await first.send(peer)
  return frames.map((frame) => (frame.type === 'service_health' ? `health ${frame.seq}` : frame.type))
}

test('what changed while rights were read is left to the news of it', async () => {
  expect(await sent({ healthy: true, seq: 4 })).toEqual(['health 4', 'server_schedule'])
  expect(await sent({ healthy: false, seq: 5 })).toEqual(['server_schedule'])
  expect(await sent(undefined)).toEqual(['server_schedule'])
})

test('what is planned is told even when rights cannot be read', async () => {
  const { peer, frames } = recordingPeer()
  const log = new MemoryLog()
  const report = { workspaceId: 'w', healthy: true, message: null, checkedAt: 0, seq: 1 }
  const broken = { allows: () => Promise.reject(new Error('no database')) }
  await new FirstFrames({ lifecycle: { health: () => [report] }, rights: broken, log }).send(peer)
  expect([frames, log.records.length]).toEqual([[SCHEDULE], 1])
})
