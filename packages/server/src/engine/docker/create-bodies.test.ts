import { expect, test } from 'vitest'
import type { CreatePlan } from './create-plan.ts'
import { dockerBody } from './docker-body.ts'
import { podmanBody } from './podman-body.ts'

const plan: CreatePlan = {
  spec: {
    workspaceId: 'w1',
    role: 'workspace',
    slug: 'space',
    image: 'image:1',
    hostname: 'space',
    env: { A: '1' },
    limits: { cpus: 1.5, memoryBytes: 1000, pids: 7, tmpBytes: 10 },
    network: 'isolated',
    ports: [{ host: 9000, container: 8000 }],
    dns: { servers: [], search: [] },
    mounts: [
      { kind: 'host', source: '/srv/shared', target: '/mnt/shared', readOnly: true },
      { kind: 'volume', name: 'cache', target: '/mnt/cache', readOnly: false },
    ],
    sudo: false,
  },
  name: 'svc-i1-space-w1',
  labels: {},
  hostPaths: { home: '/data/home', agent: '/agent', socket: '/state/agents/w1' },
  network: 'net1',
  userNamespace: { kind: 'map', map: { firstUid: 1_000_000, firstGid: 1_000_000, size: 65_536 } },
  processLimits: { nofile: 20_000, nproc: 32_768 },
  ociRuntime: undefined,
  limitsEnforced: true,
}

const engines = [
  ['Podman', podmanBody],
  ['Docker', dockerBody],
] as const
const sudoAndNot = engines.flatMap(([name, body]) => [true, false].map((sudo) => [name, sudo, body] as const))

test.each(sudoAndNot)('%s, sudo %s: nothing of the host is shared but what is mounted', (_, sudo, body) => {
  const text = JSON.stringify(body({ ...plan, spec: { ...plan.spec, sudo } }))
  expect(text).not.toMatch(/privileged|"host"|unconfined|docker\.sock|podman\.sock|seccomp=|SYS_ADMIN|NET_ADMIN/i)
  expect(text).toContain('"ALL"')
})

test.each(engines)('%s: a container without a network has neither ports nor name servers', (_, body) => {
  const text = JSON.stringify(body({ ...plan, network: undefined }))
  expect(text).toContain('"none"')
  expect(text).not.toMatch(/9000|127\.0\.0\.1|host-gateway/)
})

test('Podman: what is mounted works neither set-user bits nor devices', () => {
  const { mounts, volumes } = podmanBody(plan)
  for (const mount of [mounts, volumes].flat()) {
    expect(mount).toMatchObject({
      ...(Object(mount).type !== undefined && { options: expect.arrayContaining(['nosuid', 'nodev']) }),
      ...(Object(mount).Name !== undefined && { Options: expect.arrayContaining(['nosuid', 'nodev']) }),
    })
  }
})

test('Podman: a user namespace is said by its numbers, or in the words of the setting', () => {
  expect(podmanBody(plan)).toMatchObject({
    userns: { nsmode: 'private' },
    idmappings: { UIDMap: [{ container_id: 0, host_id: 1_000_000, size: 65_536 }] },
  })
  const named = podmanBody({ ...plan, userNamespace: { kind: 'named', mode: 'keep-id:uid=1000,gid=1000' } })
  expect(named).toMatchObject({ userns: { nsmode: 'keep-id', value: 'uid=1000,gid=1000' } })
  expect(named).not.toHaveProperty('idmappings')
})

test.each(engines)('%s: limits that it cannot enforce are not asked of it', (_, body) => {
  const text = JSON.stringify(body({ ...plan, limitsEnforced: false }))
  expect(text).not.toMatch(/resource_limits|NanoCpus|PidsLimit|"Memory"/)
})
