import { expect, test } from 'vitest'
import { containerLabels, containerName } from './container-identity.ts'

const identity = { instanceId: 'i1', workspaceId: '0123456789ab', role: 'workspace', slug: 'my-space' } as const

test('a container’s name tells the server, the workspace and what it is', () => {
  expect(containerName(identity)).toBe('svc-i1-my-space-01234567')
  expect(containerName({ ...identity, slug: '' })).toBe('svc-i1-01234567')
  expect(containerName({ ...identity, role: 'network-sidecar' })).toBe('svc-net-i1-my-space-01234567')
})

test('a name holds nothing that an engine would refuse', () => {
  expect(containerName({ ...identity, slug: 'My Späce/!' })).toBe('svc-i1-MySpce-01234567')
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
