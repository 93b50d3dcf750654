import { expect, test } from 'vitest'
import { execRequest } from './exec-request.ts'

const user = { userId: 'u1', handle: 'ann', userHome: '/home/svc' }
const OWN = {
  HOME: '/home/svc',
  SSH_AUTH_SOCK: '/tmp/svc-ssh-agent-u1.sock',
  SVCWS_USER_ID: 'u1',
  SVCWS_USER_HANDLE: 'ann',
}
const wanted = (more: object = {}) => ({ command: ['ls', '-l'], login: false, ...more })
const separate = { user, mergeErrors: false }

test('a command runs at home, with the variables of the person', () => {
  expect(execRequest(wanted(), separate)).toEqual({ argv: ['ls', '-l'], login: false, cwd: '/home/svc', env: OWN })
})

test.each([
  ['/tmp', '/tmp'],
  ['src/../lib', '/home/svc/lib'],
  ['', '/home/svc'],
  ['.', '/home/svc'],
])('the directory %j is %j', (cwd, resolved) => {
  expect(execRequest(wanted({ cwd }), separate).cwd).toBe(resolved)
})

test('variables of the client win', () => {
  const env = { HOME: '/tmp', LANG: 'C' }
  expect(execRequest(wanted({ env }), separate).env).toEqual({ ...OWN, HOME: '/tmp', LANG: 'C' })
})

test('errors that are merged go through one pipe, and the arguments stay apart', () => {
  expect(execRequest(wanted(), { user, mergeErrors: true }).argv.slice(-2)).toEqual(['ls', '-l'])
})

test.each([
  ['no command', { command: [''] }, 'invalid'],
  ['a NUL in the command', { command: ['a\0b'] }, 'invalid'],
  ['a NUL in an argument', { command: ['a', '\0'] }, 'invalid'],
  ['half a character in an argument', { command: ['a', '\ud83d'] }, 'invalid'],
  ['a NUL in the directory', { cwd: '/a\0' }, 'invalid'],
  ['a NUL in a variable', { env: { A: '\0' } }, 'invalid'],
  ['a NUL in the name of a variable', { env: { 'A\0': '' } }, 'invalid'],
  ['a variable without a name', { env: { '': 'a' } }, 'invalid'],
  ['a variable that no system takes', { env: { 'A=B': 'a' } }, 'invalid'],
  ['more than a system takes', { command: ['a', 'x'.repeat(1024 * 1024)] }, 'too_large'],
  ['more variables than a system takes', { env: { A: '\n'.repeat(600_000) } }, 'too_large'],
])('refused: %s', (_, more, code) => {
  expect(() => execRequest(wanted(more), separate)).toThrow(expect.objectContaining({ code }))
})
