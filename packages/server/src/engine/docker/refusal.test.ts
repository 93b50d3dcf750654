import { expect, test } from 'vitest'
import { refusal } from './refusal.ts'

const answer = (message: string, status = 500) => ({ status, body: { message } })

// As the engines say it.
test.each([
  ['port_in_use', 'rootlessport listen tcp 127.0.0.1:9000: bind: address already in use'],
  ['port_in_use', 'driver failed programming: Bind for 127.0.0.1:9000 failed: port is already allocated'],
  ['no_image', 'No such image: svc-workspace:latest'],
  ['no_image', 'svc-workspace:latest: image not known'],
  ['not_running', 'No such container: 0123456789ab'],
  ['not_running', 'no container with name or ID "x" found: no such container'],
  ['failed', 'runc create failed: unable to start container process'],
])('%s: %s', (fault, message) => {
  expect(refusal('start', answer(message))).toMatchObject({ fault, message: `could not start: ${message}` })
})

test('an answer without a sentence is told by its status', () => {
  expect(refusal('start', { status: 502, body: undefined }).message).toBe('could not start: the engine answered 502')
})

test('values that must stay hidden are not repeated, and short ones do not spoil the sentence', () => {
  const said = refusal('start', answer('invalid environment TOKEN=hunter2hunter2 in the request'), [
    'hunter2hunter2',
    'in',
    '',
  ])
  expect(said.message).toBe('could not start: invalid environment TOKEN=… in the request')
})
