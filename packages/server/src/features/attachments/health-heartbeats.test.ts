import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { recordingPeer } from '../../testing/recording-peer.ts'
import { HealthHeartbeats } from './health-heartbeats.ts'

function heartbeats() {
  const clock = new FakeClock(0)
  const state = { isOnTime: true }
  const all = new HealthHeartbeats({ isHealthOnTime: () => state.isOnTime, intervalSeconds: () => 30, clock })
  return { clock, state, all }
}

test('who asked is told once in each interval, and nobody else', () => {
  const { clock, all } = heartbeats()
  const [asked, other] = [recordingPeer(), recordingPeer()]
  all.subscribe(asked.peer, true)
  all.subscribe(asked.peer, true)
  all.subscribe(other.peer, false)
  clock.advance(29_999)
  expect(asked.frames).toEqual([])
  clock.advance(30_001)
  expect(asked.frames).toEqual([
    { type: 'service_health_heartbeat', timestamp: '1970-01-01T00:00:30+00:00' },
    { type: 'service_health_heartbeat', timestamp: '1970-01-01T00:01:00+00:00' },
  ])
  expect(other.frames).toEqual([])
})

test('while a check is late nothing is said, and afterwards it goes on', () => {
  const { clock, state, all } = heartbeats()
  const { peer, frames } = recordingPeer()
  all.subscribe(peer, true)
  state.isOnTime = false
  clock.advance(90_000)
  expect(frames).toEqual([])
  state.isOnTime = true
  clock.advance(30_000)
  expect(frames).toHaveLength(1)
})

test('who wants no more, or is gone, is told no more', () => {
  const { clock, all } = heartbeats()
  const [one, other] = [recordingPeer(), recordingPeer()]
  all.subscribe(one.peer, true)
  all.subscribe(other.peer, true)
  all.subscribe(one.peer, false)
  other.leave()
  all.subscribe(other.peer, true)
  clock.advance(60_000)
  expect([one.frames, other.frames]).toEqual([[], []])
})
