import { randomUUID } from 'node:crypto'
import type { ContainerSpec } from '../container-engine.ts'

/** A container of which a test only says what matters to it: no limits, no network, nothing mounted. */
export function containerSpec(changes: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    workspaceId: randomUUID(),
    role: 'workspace',
    slug: 'test',
    image: 'none',
    hostname: 'test',
    env: {},
    limits: { cpus: undefined, memoryBytes: undefined, pids: undefined, tmpBytes: undefined },
    network: 'none',
    ports: [],
    dns: { servers: [], search: [] },
    mounts: [],
    sudo: false,
    ...changes,
  }
}
