import { expect, test } from 'vitest'
import { type Machine, openMachine } from '../../testing/open-machine.ts'
import { SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const
const STOP = { cause: 'stop', actor: SYSTEM } as const

/** From now on the database takes no container row. */
const breakTrail = (machine: Machine) =>
  machine.storage.transaction((tx) => tx.schema.alterTable('container_events').renameTo('elsewhere').execute())
const mendTrail = (machine: Machine) =>
  machine.storage.transaction((tx) => tx.schema.alterTable('elsewhere').renameTo('container_events').execute())

test('where the operator wants it, nothing is started or stopped for a person without a row', async () => {
  const machine = await openMachine({ SVCD_AUDIT_FAIL_CLOSED: 'true' })
  const { id } = await machine.workspace()
  const { lifecycle, events } = await machine.boot()
  await breakTrail(machine)
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({ code: 'audit_unavailable' })
  expect(await machine.engine.list()).toEqual([])
  await mendTrail(machine)

  await lifecycle.start(id, API)
  await breakTrail(machine)
  await expect(lifecycle.stop(id, STOP)).rejects.toMatchObject({ code: 'audit_unavailable' })
  await expect(lifecycle.restart(id, { actor: SYSTEM })).rejects.toMatchObject({ code: 'audit_unavailable' })
  const removal = lifecycle.stopForGood(id, { cause: 'delete', actor: SYSTEM }, async () => 'deleted')
  await expect(removal).rejects.toMatchObject({ code: 'audit_unavailable' })
  expect(lifecycle.status({ id }).running).toBe(true)
  expect(events.writeFailures).toBe(4)
  await mendTrail(machine)
  await lifecycle.stop(id, STOP)
  expect(await machine.recorded(id)).toEqual(['start api', 'stop stop'])
})

test('what the server must do is done without a row as well, and the loss is counted', async () => {
  const machine = await openMachine({ SVCD_AUDIT_FAIL_CLOSED: 'true' })
  const { id } = await machine.workspace()
  const { lifecycle, events } = await machine.boot()
  await breakTrail(machine)
  await lifecycle.start(id, { cause: 'ws_connect', actor: SYSTEM })
  await lifecycle.stop(id, { cause: 'idle_timeout', actor: SYSTEM })
  expect(lifecycle.status({ id }).running).toBe(false)
  expect(events.writeFailures).toBe(2)
  expect(events.failedWithin(1000)).toBe(true)
})

test('a start that was recorded first and failed is taken back in the trail', async () => {
  const machine = await openMachine({ SVCD_AUDIT_FAIL_CLOSED: 'true' })
  const { id } = await machine.workspace({ mounts: ['/etc:/refused'] })
  const { lifecycle } = await machine.boot()
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({ code: 'bad_request' })
  expect(await machine.recorded(id)).toEqual(['start api', 'stop start_failed'])
})

test('where proof of FIPS is wanted nothing starts, because nobody can ask for it yet', async () => {
  const machine = await openMachine({ SVCD_FIPS_MODE: 'true' })
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({
    code: 'start_failed',
    message: expect.stringContaining('SVCD_FIPS_MODE'),
  })
  expect(await machine.engine.list()).toEqual([])
})
