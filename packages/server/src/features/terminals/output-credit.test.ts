import { INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import { FLOW_WINDOW_BYTES } from '@svc/protocol/ws/capabilities'
import { expect, test } from 'vitest'
import { OutputCredit } from './output-credit.ts'

const ROOM = FLOW_WINDOW_BYTES - INITIAL_CREDIT

function open(isAcknowledged: boolean) {
  let given = 0
  const consume = (bytes: number) => {
    given += bytes
  }
  const credit = new OutputCredit({ from: 1000, acknowledged: 1000, isAcknowledged, consume })
  return { credit, given: () => given }
}

test('the agent may send as much more as the network took', () => {
  const { credit, given } = open(false)
  credit.sent(10)
  credit.sent(5_000_000)
  expect(given()).toBe(5_000_010)
})

test('a client that says how far it is never has more than a window on its way, the credit of the agent included', () => {
  const { credit, given } = open(true)
  credit.sent(FLOW_WINDOW_BYTES)
  expect(given() + INITIAL_CREDIT).toBe(FLOW_WINDOW_BYTES)
  credit.acknowledge(1000 + 100)
  expect(given()).toBe(ROOM + 100)
  credit.acknowledge(1000 + FLOW_WINDOW_BYTES)
  expect(given()).toBe(FLOW_WINDOW_BYTES)
})

test('what is said twice, or of the past, changes nothing', () => {
  const { credit, given } = open(true)
  credit.sent(FLOW_WINDOW_BYTES)
  credit.acknowledge(1100)
  credit.acknowledge(1100)
  credit.acknowledge(0)
  expect(given()).toBe(ROOM + 100)
})

test('nobody waits for a client that cannot be heard', () => {
  const { credit, given } = open(true)
  credit.isClientUnheard = true
  credit.sent(3 * FLOW_WINDOW_BYTES)
  expect(given()).toBe(3 * FLOW_WINDOW_BYTES)
  credit.isClientUnheard = false
  credit.sent(10)
  expect(given()).toBe(3 * FLOW_WINDOW_BYTES)
  credit.acknowledge(1000 + 3 * FLOW_WINDOW_BYTES)
  expect(given()).toBe(3 * FLOW_WINDOW_BYTES + 10)
})

test('output that was passed over is neither waited for nor given back', () => {
  const { credit, given } = open(true)
  credit.skip(10_000_000, 10_001_000)
  credit.sent(100)
  expect(given()).toBe(100)
  credit.sent(FLOW_WINDOW_BYTES)
  expect(given()).toBe(ROOM)
})
