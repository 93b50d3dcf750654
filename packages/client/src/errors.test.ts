import { expect, test } from 'vitest'
import { readRefusal } from './errors.ts'

const bodies = [
  {
    why: 'a refusal keeps its sentence, code and request id',
    body: { detail: 'Workspace not found', code: 'not_found', request_id: 'r1' },
    refusal: { detail: 'Workspace not found', code: 'not_found', requestId: 'r1' },
  },
  {
    why: 'validation names each field and drops the part of the request',
    body: {
      detail: [
        { type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: {} },
        { type: 'value_error', loc: ['body', 'mounts', 0, 'path'], msg: 'Value error, must be absolute', input: 'x' },
      ],
      code: 'invalid_request',
    },
    refusal: { detail: 'name: Field required; mounts.0.path: must be absolute', code: 'invalid_request' },
  },
  {
    why: 'a fault of the whole body is told as such',
    body: { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }] },
    refusal: { detail: 'body: Field required' },
  },
  {
    why: 'a step-up refusal has no detail, so we write one',
    body: { error: 'step_up_required' },
    refusal: { detail: 'Confirm your password first', code: 'step_up_required' },
  },
  {
    why: 'an expired password carries its code inside',
    body: { detail: { error: 'password_expired', message: 'Your password has expired' } },
    refusal: { detail: 'Your password has expired', code: 'password_expired' },
  },
  {
    why: 'the error of a failed upstream is a sentence, not a code',
    body: { error: 'Upstream timed out' },
    refusal: { detail: 'Upstream timed out' },
  },
  { why: 'no body is told by its status', body: undefined, refusal: { detail: 'The server answered with status 502' } },
  { why: 'a body of another kind too', body: ['?'], refusal: { detail: 'The server answered with status 502' } },
  { why: 'and so is an empty list', body: { detail: [] }, refusal: { detail: 'The server answered with status 502' } },
]

test.each(bodies)('$why', ({ body, refusal }) => {
  expect(readRefusal(502, body)).toEqual({ code: undefined, requestId: undefined, ...refusal })
})
