import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openMachine } from '../../testing/open-machine.ts'
import { isFreePort } from './free-port.ts'
import { HostedPorts } from './hosted-ports.ts'
import { PortStore } from './port-store.ts'

async function givingPorts(taken: readonly number[] = []) {
  const machine = await openMachine()
  const settings = { portRangeStart: 9000, portsPerWorkspace: 5 }
  const busy = new Set(taken)
  const ports = new HostedPorts({
    storage: machine.storage,
    store: new PortStore(),
    settings: () => settings,
    isFree: async (port) => !busy.has(port),
  })
  return { machine, ports, settings, busy }
}

describe('ports of hosted applications', () => {
  test('a workspace gets the first that are free, and keeps them', async () => {
    const { machine, ports } = await givingPorts([9001])
    const [one, two] = [await machine.workspace({ numPorts: 3 }), await machine.workspace({ numPorts: 2 })]
    expect(await ports.reconcile(one)).toEqual([9000, 9002, 9003])
    expect(await ports.reconcile(two)).toEqual([9004, 9005])
    expect(await ports.reconcile(one)).toEqual([9000, 9002, 9003])
    expect(await ports.find(two.id)).toEqual([9004, 9005])
  })

  test('it gets more or fewer when the numbers change, and none when hosting is off', async () => {
    const { machine, ports, settings } = await givingPorts()
    const { id } = await machine.workspace()
    expect(await ports.reconcile({ id, numPorts: 2 })).toEqual([9000, 9001])
    expect(await ports.reconcile({ id, numPorts: 9 })).toEqual([9000, 9001, 9002, 9003, 9004])
    settings.portsPerWorkspace = 3
    expect(await ports.reconcile({ id, numPorts: 9 })).toEqual([9000, 9001, 9002])
    settings.portsPerWorkspace = 0
    expect(await ports.reconcile({ id, numPorts: 9 })).toEqual([])
    expect(await ports.find(id)).toEqual([])
  })

  test('many at once never share one', async () => {
    const { machine, ports } = await givingPorts()
    const made = await Promise.all(Array.from({ length: 10 }, () => machine.workspace({ numPorts: 5 })))
    const given = (await Promise.all(made.map((workspace) => ports.reconcile(workspace)))).flat()
    expect(new Set(given).size).toBe(50)
    expect(Math.max(...given)).toBe(9049)
  })

  test('one that another program took is replaced, and the others stay', async () => {
    const { machine, ports, busy } = await givingPorts()
    const { id } = await machine.workspace()
    await ports.reconcile({ id, numPorts: 3 })
    busy.add(9001)
    expect(await ports.replaceTaken(id)).toEqual([9000, 9002, 9003])
  })

  test('those of a deleted workspace are free again', async () => {
    const { machine, ports } = await givingPorts()
    const [one, two] = [await machine.workspace(), await machine.workspace()]
    await ports.reconcile(one)
    await machine.storage.db.deleteFrom('workspaces').where('id', '=', one.id).execute()
    expect(await ports.reconcile(two)).toEqual([9000, 9001])
  })

  test('when the range is used up a start is refused', async () => {
    const { machine, ports, settings } = await givingPorts()
    settings.portRangeStart = 65_534
    const { id } = await machine.workspace()
    await expect(ports.reconcile({ id, numPorts: 3 })).rejects.toMatchObject({ code: 'unavailable' })
    expect(await ports.find(id)).toEqual([])
  })

  test('a port on which a program listens is not free', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    expect(await isFreePort(port)).toBe(false)
    server.close()
    await once(server, 'close')
    expect(await isFreePort(port)).toBe(true)
  })
})
