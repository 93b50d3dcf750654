import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentWith, openMachine, run } from '../../testing/open-machine.ts'
import { SYSTEM } from '../lifecycle/lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const

test('a token is good for the container it was made for, for as long as the operator says', async () => {
  const machine = await openMachine({ SVCD_WORKSPACE_TOKEN_HOURS: '2' })
  const { tokens } = machine.server()
  const { id } = await machine.workspace({ containerId: 'present' })
  const { token } = await tokens.issue(id, 'present')
  const other = await tokens.issue(id, 'earlier')
  expect(await tokens.check(token)).toEqual({ workspaceId: id })
  expect(await tokens.check(other.token)).toEqual({ problem: 'invalid' })
  expect(await tokens.check(undefined)).toEqual({ problem: 'missing' })
  expect(await tokens.check('')).toEqual({ problem: 'missing' })
  expect(await tokens.check('a.b.c')).toEqual({ problem: 'invalid' })
  machine.clock.advance(2 * 3_600_000)
  expect(await tokens.check(token)).toEqual({ problem: 'expired' })
  expect(await tokens.check(other.token)).toEqual({ problem: 'invalid' })
  await machine.change(id, { containerId: null })
  expect(await tokens.check(token)).toEqual({ problem: 'invalid' })
})

test('the token in a workspace is renewed before it is too old, while nobody is there', async () => {
  const machine = await openMachine({ SVCD_WORKSPACE_TOKEN_HOURS: '1', SVCD_IDLE_TIMEOUT_SECONDS: '0' })
  const { id } = await machine.workspace()
  const { lifecycle, tokens } = await machine.boot()
  await lifecycle.start(id, API)
  const read = () => run(lifecycle.requireRunning(id), 'cat /tmp/svc/workspace-token')
  const first = await read()
  machine.clock.advance(0.79 * 3_600_000)
  expect(await read()).toBe(first)
  machine.clock.advance(0.02 * 3_600_000)
  await expect.poll(read).not.toBe(first)
  machine.clock.advance(0.5 * 3_600_000)
  expect(await tokens.check(first)).toEqual({ problem: 'expired' })
  expect(await tokens.check(await read())).toEqual({ workspaceId: id })
  await lifecycle.stop(id, { cause: 'stop', actor: SYSTEM })
  expect(await tokens.check(first)).toEqual({ problem: 'invalid' })
})

test('an agent that does not take its new token is asked again', async () => {
  const agentDir = await agentWith(`
    const files = process.getBuiltinModule('node:fs')
    process.on('SIGUSR2', () => {
      files.writeFileSync('/home/svc/blocked', '')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`)
  const env = { SVCD_WORKSPACE_TOKEN_HOURS: '1', SVCD_IDLE_TIMEOUT_SECONDS: '0' }
  const machine = await openMachine(env, { agentDir })
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, API)
  void run(lifecycle.requireRunning(id), 'kill -USR2 $PPID').catch(() => undefined)
  await expect.poll(() => access(join(machine.folder, 'data/workspaces', id, 'home/svc/blocked'))).toBeUndefined()
  machine.clock.advance(0.8 * 3_600_000)
  const told = () => machine.log.records.filter(({ message }) => message.includes('token could not be renewed'))
  await expect
    .poll(() => {
      machine.clock.advance(15_000)
      return told()
    })
    .toMatchObject([{ fields: { workspace: id } }])
})
