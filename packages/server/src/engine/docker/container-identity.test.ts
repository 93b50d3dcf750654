import { expect, test } from 'vitest'
import { containerLabels, containerName, toSlug } from './container-identity.ts'

const identity = { instanceId: 'i1', workspaceId: '0123456789ab', role: 'workspace', slug: 'My Space!' } as const

test.each([
  ['My Space!', 'my-space'],
  ['  --Ünïcode--  ', 'n-code'],
  ['a'.repeat(40), 'a'.repeat(24)],
  [`${'a'.repeat(23)} b`, 'a'.repeat(23)],
  ['!!!', ''],
])('the slug of %j is %j', (name, slug) => {
  expect(toSlug(name)).toBe(slug)
})

test('a container’s name tells the server, the workspace and what it is', () => {
  expect(containerName(identity)).toBe('svc-i1-my-space-01234567')
  expect(containerName({ ...identity, slug: '!' })).toBe('svc-i1-01234567')
  expect(containerName({ ...identity, role: 'network-sidecar' })).toBe('svc-net-i1-my-space-01234567')
})

test('its labels say whose it is', () => {
  expect(containerLabels(identity, 42)).toEqual({
    'svc.managed': 'true',
    'svc.instance': 'i1',
    'svc.pid': '42',
    'svc.workspace': '0123456789ab',
    'svc.role': 'workspace',
    'svc.workspace-name': 'my-space',
  })
})
