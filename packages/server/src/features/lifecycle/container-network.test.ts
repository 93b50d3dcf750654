import { expect, test } from 'vitest'
import { chooseNetwork, publish, requireFilter } from './container-network.ts'

const APART = { networks: true }
const SHARED = { networks: true, hostNetwork: true }

test.each(['interactive', 'static'] as const)(
  'with egress mode %s nothing can leave, and the status says why',
  (mode) => {
    for (const supports of [APART, SHARED, { networks: false }]) {
      expect(chooseNetwork({ egressMode: mode, rejectedDomains: null }, supports)).toMatchObject({
        asked: 'none',
        mode: 'none',
        note: expect.stringContaining('Outgoing connections are off'),
      })
    }
  },
)

test('with egress mode allow there is nothing to explain, unless the engine cannot keep networks apart', () => {
  expect(chooseNetwork({ egressMode: 'allow', rejectedDomains: [] }, APART)).toEqual({
    asked: 'isolated',
    mode: 'isolated',
    note: null,
  })
  for (const supports of [SHARED, { networks: false }]) {
    expect(chooseNetwork({ egressMode: 'allow', rejectedDomains: null }, supports)).toMatchObject({
      asked: 'isolated',
      mode: 'host',
      note: expect.any(String),
    })
  }
})

test('rejected domains that nothing keeps out are told as such', () => {
  const wanted = { egressMode: 'allow', rejectedDomains: ['bad.example'] } as const
  expect(chooseNetwork(wanted, APART).note).toContain('rejected domains is not enforced')
  expect(chooseNetwork(wanted, SHARED).note).toMatch(/kept apart\. The list of rejected domains is not enforced/)
})

test('ports lead to 8000 and up, or are the same inside and outside', () => {
  expect(publish([9003, 9007], APART)).toEqual([
    { host: 9003, container: 8000 },
    { host: 9007, container: 8001 },
  ])
  expect(publish([9003], SHARED)).toEqual([{ host: 9003, container: 9003 }])
})

test('where the filter is turned off a workspace that wants it does not start', () => {
  expect(() => requireFilter('interactive', false)).toThrow('SVCD_NETFILTER_ENABLED')
  expect(() => requireFilter('allow', false)).not.toThrow()
  expect(() => requireFilter('static', true)).not.toThrow()
})
