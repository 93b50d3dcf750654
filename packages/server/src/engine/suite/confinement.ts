import { describe, expect, test } from 'vitest'
import type { EngineBench } from './engine-bench.ts'
import { ADDRESS, DANGEROUS, fieldOf, freePort, INTERFACES, LISTEN, ownAddresses, REACHES, reaches } from './probes.ts'

export function confinementTests(bench: EngineBench): void {
  const { run, inside, read, requireSupport, requireOwnNetwork } = bench

  describe('what a container cannot do', () => {
    test('root inside is not root outside', async ({ skip }) => {
      requireSupport('userNamespaces', skip)
      const map = String(await read(await run(), '/proc/self/uid_map'))
        .trim()
        .split(/\s+/)
      expect(map[0]).toBe('0')
      expect(Number(map[1])).toBeGreaterThan(0)
    })

    test('without sudo nothing can gain a privilege, and the few the agent has are all there are', async ({ skip }) => {
      requireSupport('images', skip)
      const status = String(await read(await run(), '/proc/self/status'))
      expect(fieldOf(status, 'NoNewPrivs')).toBe('1')
      expect(fieldOf(status, 'Seccomp')).toBe('2')
      // CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID
      expect(Number.parseInt(fieldOf(status, 'CapBnd'), 16)).toBe(0b1110_1011)
    })

    test('with sudo privileges can be gained, but none over the machine or its network', async ({ skip }) => {
      requireSupport('images', skip)
      const status = String(await read(await run({ sudo: true }), '/proc/self/status'))
      expect([fieldOf(status, 'NoNewPrivs'), fieldOf(status, 'Seccomp')]).toEqual(['0', '2'])
      const bounding = BigInt(`0x${fieldOf(status, 'CapBnd')}`)
      for (const [name, bit] of Object.entries(DANGEROUS)) expect(bounding & (1n << bit), name).toBe(0n)
    })

    test('without a network there is no way out', async ({ skip }) => {
      requireSupport('networks', skip)
      const id = await run({ network: 'none' })
      const routes = String(await read(id, '/proc/net/route'))
        .trim()
        .split('\n')
      expect(routes.slice(1)).toEqual([])
      expect(Object.keys(Object(await inside(id, INTERFACES))).filter((name) => name !== 'lo')).toEqual([])
    })

    test('two isolated containers cannot reach each other', async ({ skip }) => {
      requireOwnNetwork(skip)
      const [first, second] = await Promise.all([run({ network: 'isolated' }), run({ network: 'isolated' })])
      await inside(first, LISTEN)
      const address = await inside(first, ADDRESS)
      expect(await reaches(String(address), 8000), 'the host reaches it').toBe(true)
      expect(await inside(second, `${REACHES} return reaches('127.0.0.1', 8000)`)).toBe(false)
      expect(await inside(second, `${REACHES} return reaches('${address}', 8000)`)).toBe(false)
    })

    test('a published port answers on 127.0.0.1 and on no other address', async ({ skip }) => {
      requireOwnNetwork(skip)
      const port = await freePort()
      const id = await run({ network: 'isolated', ports: [{ host: port, container: 8000 }] })
      const neighbour = await run({ network: 'isolated' })
      await inside(id, LISTEN)
      expect(await reaches('127.0.0.1', port)).toBe(true)
      const gateway = String(await inside(id, ADDRESS)).replace(/\d+$/, '1')
      for (const address of [...ownAddresses(), gateway]) expect(await reaches(address, port), address).toBe(false)
      for (const address of [...ownAddresses(), gateway]) {
        expect(await inside(neighbour, `${REACHES} return reaches('${address}', ${port})`), address).toBe(false)
      }
    })

    test('name servers are as asked', async ({ skip }) => {
      requireOwnNetwork(skip)
      const id = await run({ network: 'isolated', dns: { servers: ['192.0.2.53'], search: ['example.com'] } })
      const text = String(await read(id, '/etc/resolv.conf'))
      expect(text).toMatch(/^search example\.com$/m)
      if (!text.includes('127.0.0.11')) expect(text).toMatch(/^nameserver 192\.0\.2\.53$/m) // a name server between
    })

    test('the subnets of isolated containers are told', async ({ skip }) => {
      requireOwnNetwork(skip)
      const id = await run({ network: 'isolated' })
      const prefix = String(await inside(id, ADDRESS))
        .split('.')
        .slice(0, 2)
        .join('.')
      expect(bench.engine.containerSubnets).toContainEqual(expect.stringMatching(`^${prefix.replace('.', '\\.')}`))
    })
  })
}
